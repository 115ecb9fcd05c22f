import type { CommandGroup } from './command-section.ts';

const impersonationCommands: CommandGroup['commands'] = [
  {
    name: 'forbid-impersonation',
    summary: 'Refuse tokens that another person created (for owners)',
    load: async () => (await import('./commands/org-impersonation.ts')).orgForbidImpersonationCommand,
  },
  {
    name: 'allow-impersonation',
    summary: 'Accept tokens that another person created (for owners)',
    load: async () => (await import('./commands/org-impersonation.ts')).orgAllowImpersonationCommand,
  },
];

/** Organizations, projects and environments have five commands in common. */
export function tenantGroup(name: 'org' | 'project' | 'env', summary: string): CommandGroup {
  return {
    name,
    summary,
    commands: [
      {
        name: 'list',
        summary: 'List them',
        load: async () => (await import('./commands/tenant.ts')).tenantListCommand(name),
      },
      {
        name: 'create',
        summary: 'Make one',
        load: async () => (await import('./commands/tenant.ts')).tenantCreateCommand(name),
      },
      {
        name: 'show',
        summary: 'Show one',
        load: async () => (await import('./commands/tenant.ts')).tenantShowCommand(name),
      },
      {
        name: 'rename',
        summary: 'Change the name that is shown; the slug stays',
        load: async () => (await import('./commands/tenant.ts')).tenantRenameCommand(name),
      },
      {
        name: 'delete',
        summary: 'Delete one, with all that is in it',
        load: async () => (await import('./commands/tenant.ts')).tenantDeleteCommand(name),
      },
      ...(name === 'org' ? impersonationCommands : []),
    ],
  };
}
