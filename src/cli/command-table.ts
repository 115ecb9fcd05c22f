import type { CommandSection } from './command-section.ts';
import { tenantGroup } from './tenant-group.ts';

/**
 * Every command: its name, its summary and the module that has the rest, which is loaded when the command is used. The
 * order is that of the help.
 */

export const commandTable: readonly CommandSection[] = [
  {
    title: 'Secrets',
    entries: [
      {
        name: 'list',
        summary: 'List the secrets of an environment, without their values',
        load: async () => (await import('./secrets-commands/list.ts')).listCommand,
      },
      {
        name: 'get',
        summary: 'Print the value of one secret',
        load: async () => (await import('./secrets-commands/get.ts')).getCommand,
      },
      {
        name: 'set',
        summary: 'Write secrets: KEY=VALUE, from standard input or from a file',
        load: async () => (await import('./secrets-commands/set.ts')).setCommand,
      },
      {
        name: 'rotate',
        summary: 'Give a secret a new random value, made up by the server',
        load: async () => (await import('./secrets-commands/rotate.ts')).rotateCommand,
      },
      {
        name: 'unset',
        summary: 'Delete secrets',
        load: async () => (await import('./secrets-commands/unset.ts')).unsetCommand,
      },
      {
        name: 'push',
        summary: 'Bring an environment in line with a file, after showing the plan',
        load: async () => (await import('./secrets-commands/push.ts')).pushCommand,
      },
      {
        name: 'pull',
        summary: 'Read all secrets of an environment, in one of several formats',
        load: async () => (await import('./secrets-commands/pull.ts')).pullCommand,
      },
      {
        name: 'run',
        summary: 'Run a program with the secrets as its environment variables',
        load: async () => (await import('./secrets-commands/run.ts')).runCommand,
      },
      {
        name: 'diff',
        summary: 'Compare a file, or another environment, with an environment',
        load: async () => (await import('./secrets-commands/diff.ts')).diffCommand,
      },
    ],
  },
  {
    title: 'History',
    entries: [
      {
        name: 'versions',
        summary: 'List the versions of a secret, or show one of them',
        load: async () => (await import('./commands/versions.ts')).versionsCommand,
      },
      {
        name: 'rollback',
        summary: 'Give a secret the value of an earlier version',
        load: async () => (await import('./commands/rollback.ts')).rollbackCommand,
      },
      {
        name: 'destroy',
        summary: 'Erase the value of one version for good',
        load: async () => (await import('./commands/destroy.ts')).destroyCommand,
      },
      {
        name: 'history',
        summary: 'List the changes of an environment',
        load: async () => (await import('./commands/history.ts')).historyCommand,
      },
      {
        name: 'snapshot',
        summary: 'Capture an environment, and restore it',
        commands: [
          {
            name: 'create',
            summary: 'Capture the present state of an environment',
            load: async () => (await import('./commands/snapshot-create.ts')).snapshotCreateCommand,
          },
          {
            name: 'list',
            summary: 'List the snapshots of an environment',
            load: async () => (await import('./commands/snapshot-list.ts')).snapshotListCommand,
          },
          {
            name: 'show',
            summary: 'Show a snapshot and where it belongs',
            load: async () => (await import('./commands/snapshot-show.ts')).snapshotShowCommand,
          },
          {
            name: 'diff',
            summary: 'Compare a snapshot with the present, or with another snapshot',
            load: async () => (await import('./commands/snapshot-diff.ts')).snapshotDiffCommand,
          },
          {
            name: 'restore',
            summary: 'Bring an environment back to a snapshot, after showing the plan',
            load: async () => (await import('./commands/snapshot-restore.ts')).snapshotRestoreCommand,
          },
          {
            name: 'delete',
            summary: 'Delete a snapshot; the secrets are left alone',
            load: async () => (await import('./commands/snapshot-delete.ts')).snapshotDeleteCommand,
          },
          {
            name: 'prune',
            summary: 'Delete the snapshots of an environment but for those to keep',
            load: async () => (await import('./commands/snapshot-prune.ts')).snapshotPruneCommand,
          },
        ],
      },
      {
        name: 'audit',
        summary: 'Read the audit log of an organization or of the server',
        load: async () => (await import('./commands/audit.ts')).auditCommand,
      },
    ],
  },
  {
    title: 'Access',
    entries: [
      {
        name: 'login',
        summary: 'Sign in: check a token and store it',
        load: async () => (await import('./commands/login.ts')).loginCommand,
      },
      {
        name: 'logout',
        summary: 'Forget the stored token',
        load: async () => (await import('./commands/logout.ts')).logoutCommand,
      },
      {
        name: 'whoami',
        summary: 'Show who the token stands for, and what it may do',
        load: async () => (await import('./commands/whoami.ts')).whoamiCommand,
      },
      {
        name: 'token',
        summary: 'Service tokens and personal tokens',
        commands: [
          {
            name: 'set',
            summary: 'Store a token for later commands',
            load: async () => (await import('./commands/token-set.ts')).tokenSetCommand,
          },
          {
            name: 'create-service',
            summary: 'Make a service token; it is shown once',
            load: async () => (await import('./commands/token-create-service.ts')).tokenCreateServiceCommand,
          },
          {
            name: 'list-service',
            summary: "List an organization's service tokens",
            load: async () => (await import('./commands/token-list-service.ts')).tokenListServiceCommand,
          },
          {
            name: 'rotate-service',
            summary: 'Give a service token a new value; it is shown once',
            load: async () => (await import('./commands/token-rotate-service.ts')).tokenRotateServiceCommand,
          },
          {
            name: 'revoke-service',
            summary: 'Revoke a service token at once and for good',
            load: async () => (await import('./commands/token-revoke-service.ts')).tokenRevokeServiceCommand,
          },
          {
            name: 'reinstate',
            summary: 'Lift the revocation of a keyless service token',
            load: async () => (await import('./commands/token-reinstate.ts')).tokenReinstateCommand,
          },
          {
            name: 'create',
            summary: 'Make a personal token for yourself; it is shown once',
            load: async () => (await import('./commands/token-create.ts')).tokenCreateCommand,
          },
          {
            name: 'list',
            summary: 'List your personal tokens',
            load: async () => (await import('./commands/token-list.ts')).tokenListCommand,
          },
          {
            name: 'revoke',
            summary: 'Revoke one of your personal tokens',
            load: async () => (await import('./commands/token-revoke.ts')).tokenRevokeCommand,
          },
        ],
      },
      {
        name: 'member',
        summary: 'The people of an organization',
        commands: [
          {
            name: 'list',
            summary: 'List the members and their roles',
            load: async () => (await import('./commands/member-list.ts')).memberListCommand,
          },
          {
            name: 'set',
            summary: 'Add a person, or change their role',
            load: async () => (await import('./commands/member-set.ts')).memberSetCommand,
          },
          {
            name: 'remove',
            summary: 'Remove a person',
            load: async () => (await import('./commands/member-remove.ts')).memberRemoveCommand,
          },
          {
            name: 'appoint-owner',
            summary: 'Give an organization without an owner its first one (for administrators)',
            load: async () => (await import('./commands/member-appoint-owner.ts')).memberAppointOwnerCommand,
          },
        ],
      },
      {
        name: 'user',
        summary: 'The people of the whole server (for its administrators)',
        commands: [
          {
            name: 'list',
            summary: 'List all people',
            load: async () => (await import('./commands/user-list.ts')).userListCommand,
          },
          {
            name: 'create',
            summary: 'Add a person; their first token is shown once',
            load: async () => (await import('./commands/user-create.ts')).userCreateCommand,
          },
          {
            name: 'disable',
            summary: 'Stop a person from doing anything',
            load: async () => (await import('./commands/user-disable.ts')).userDisableCommand,
          },
          {
            name: 'enable',
            summary: 'Let a disabled person in again',
            load: async () => (await import('./commands/user-enable.ts')).userEnableCommand,
          },
        ],
      },
    ],
  },
  {
    title: 'Setting up',
    entries: [
      {
        name: 'init',
        summary: 'Say which environment the commands in this folder mean',
        load: async () => (await import('./commands/init.ts')).initCommand,
      },
      {
        name: 'trust',
        summary: 'Trust the .keyframe.json of this folder, as it is now',
        load: async () => (await import('./commands/trust.ts')).trustCommand,
      },
      tenantGroup('org', 'Organizations'),
      tenantGroup('project', 'Projects of an organization'),
      tenantGroup('env', 'Environments of a project'),
      {
        name: 'completion',
        summary: 'Print the completion script of a shell',
        load: async () => (await import('./commands/completion.ts')).completionCommand,
      },
      {
        name: 'help',
        summary: 'Show the help of a command',
        load: async () => (await import('./commands/help.ts')).helpCommand,
      },
    ],
  },
];
