import type { CreatedServiceTokenView } from '../../../wire/service-tokens.ts';
import type { EnvironmentView, ProjectView } from '../../../wire/tenancy.ts';
import { apiPath } from '../../../client/api-client.ts';
import { usageError } from '../../cli-error.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { completing, choice, integer, organizationOption, requiredText, text } from '../../options.ts';
import { findScope, isWhole } from '../../settings/scope.ts';
import { printNewServiceToken } from './service-token-view.ts';

/** `token create-service`: docs/interface.md 4.4 and 4.9. */
export const tokenCreateServiceCommand = defineCommand({
  summary: 'Make a service token; it is shown once',
  description:
    'For a machine. The token belongs to the organization and is shown this once. Where no flag says which project or ' +
    'environment, those of .keyframe.json are meant.',
  options: {
    ...organizationOption,
    name: requiredText('-n, --name <name>', 'What the token is for'),
    scope: choice('-s, --scope <scope>', 'What it reaches', ['organization', 'project', 'environment'], {
      isRequired: true,
    }),
    projectId: text('--project-id <uuid>', 'The project, for project scope'),
    environmentId: text('--environment-id <uuid>', 'The environment, for environment scope'),
    project: completing(
      'project',
      text('--project <slug>', 'The project by its slug, for --project-id or beside --env'),
    ),
    environment: completing('environment', text('--env <slug>', 'The environment by its slug, for --environment-id')),
    permission: choice('-p, --permission <permission>', 'What it may do', ['read', 'read_write'], { isRequired: true }),
    expiresInDays: integer('--expires-in <days>', 'Days until it ends (default: it does not)', { min: 1 }),
  },
  examples: [
    {
      line: 'token create-service -o acme -n ci -s organization -p read_write --expires-in 90',
      note: 'For all projects',
    },
    {
      line: 'token create-service -o acme -n deploy -s project --project shop -p read',
      note: 'For one project; its id may be given instead, by --project-id',
    },
    {
      line: 'token create-service -o acme -n web -s environment --project shop --env production -p read --output json',
      note: 'For one environment, to be read by a program',
    },
    {
      line: "token create-service -n web -s environment -p read --output yaml | sed -n 's/^token: //p' > token.txt",
      note: "For this folder's environment; the token alone, into a file",
    },
  ],
  async run(context, { options }) {
    const { scope, name, permission, expiresInDays } = options;
    const organization = context.organization(options);
    // What flags name whole does not need the folder's file, so an untrusted one is no obstacle.
    const hasIds = options.projectId !== undefined || options.environmentId !== undefined;
    const folder = hasIds || isWhole(options, scope) ? undefined : context.configuration.folder;
    const ids = await scopeIds(context, {
      ...options,
      ...findScope(options, folder),
      organization,
    });
    const body = { name, scope, permission, ...ids, ...(expiresInDays === undefined ? {} : { expiresInDays }) };
    const path = apiPath`/service-tokens/${organization}`;
    await printNewServiceToken(context, await context.api().post<CreatedServiceTokenView>(path, body));
  },
});

interface ScopeOptions {
  readonly organization: string;
  readonly scope: 'organization' | 'project' | 'environment';
  readonly projectId: string | undefined;
  readonly environmentId: string | undefined;
  readonly project: string | undefined;
  readonly environment: string | undefined;
}

/** The ids as they were given, else found by their slugs. Whether they fit the scope is the server's to judge. */
async function scopeIds(
  { api }: CommandContext,
  { organization, scope, projectId, environmentId, project, environment }: ScopeOptions,
): Promise<{ projectId?: string; environmentId?: string }> {
  if (projectId !== undefined || environmentId !== undefined) {
    return {
      ...(projectId === undefined ? {} : { projectId }),
      ...(environmentId === undefined ? {} : { environmentId }),
    };
  }
  if (scope === 'organization') return {};
  if (project === undefined)
    throw missingPlace(scope === 'project' ? '--project-id <uuid>' : '--environment-id <uuid>', scope);
  if (scope === 'project') {
    return { projectId: (await api().get<ProjectView>(apiPath`/projects/${organization}/${project}`)).id };
  }
  if (environment === undefined) throw missingPlace('--environment-id <uuid>', scope);
  const path = apiPath`/environments/${organization}/${project}/${environment}`;
  return { environmentId: (await api().get<EnvironmentView>(path)).id };
}

function missingPlace(flag: string, scope: 'project' | 'environment'): Error {
  const slugs = scope === 'project' ? '--project <slug>' : '--project <slug> --env <slug>';
  return usageError(`a token of ${scope} scope needs ${flag}`, `or its slugs: ${slugs}`);
}
