import type { NewServiceTokenView } from '../../../wire/service-tokens.ts';
import { foreignAnswer } from '../../../client/answer-error.ts';
import { call } from '../../../client/call.ts';
import { tokenEndpoints } from '../../../client/endpoint-sets.ts';
import { ClientError } from '../../../client/client-error.ts';
import { usageError } from '../../core/cli-error.ts';
import { type CommandContext, defineCommand } from '../../core/command.ts';
import {
  completing,
  choice,
  type Option,
  organizationOption,
  repeated,
  requiredText,
  text,
} from '../../core/options.ts';
import { type FoundScope, findScope } from '../../settings/scope.ts';
import { federationOf } from './federation.ts';
import { expiryOf, lifetimeOption } from './lifetime.ts';
import { printNewServiceToken } from './service-token-view.ts';
import { homeParams, type TokenHome } from './token-home.ts';

const permissions = ['read', 'read_write'] as const;

/** In other commands -p is the project. */
const permission: Option<(typeof permissions)[number]> = {
  ...choice('-p, --permission <permission>', 'Permission of the token', permissions, { isRequired: true }),
  parse: (given) => {
    const found = permissions.find((word) => word === given);
    if (found !== undefined) return found;
    throw usageError(
      'must be one of read, read_write; -p is the permission here',
      'To name the project, use --project',
    );
  },
};

/** `token create-service`: docs/interface.md 4.4 and 4.9. */
export const tokenCreateServiceCommand = defineCommand({
  summary: 'Create a service token; its value is shown once',
  description:
    'For CI, Kubernetes and other automation. The token belongs to the organization and is shown only once. With --issuer it has no value: JWTs of the issuer with the audience that is printed, and with all claims, prove it (docs/federation.md). It expires no later than the personal token that creates it. -p is the permission here; the project is --project. The organization, the project and the environment have the defaults of all commands (keyframe --help).',
  createsToken: true,
  options: {
    ...organizationOption,
    name: requiredText('-n, --name <name>', 'Name of the token'),
    scope: choice('-s, --scope <scope>', 'Scope of the token; immutable', ['organization', 'project', 'environment'], {
      isRequired: true,
    }),
    projectId: text('--project-id <uuid>', 'Id of the project, for --scope project'),
    environmentId: text('--environment-id <uuid>', 'Id of the environment, for --scope environment'),
    project: completing('project', text('--project <slug>', 'Slug of the project, instead of an id')),
    environment: completing('environment', text('-e, --env <slug>', 'Slug of the environment, instead of an id')),
    permission,
    lifetime: lifetimeOption('when your own token expires'),
    issuer: {
      ...text('--issuer <name>', 'Trusted issuer whose JWTs prove the token, which then has no value'),
      field: 'federation.issuer',
    },
    claims: {
      ...repeated(
        '--claim <name=value>',
        'Claim that each JWT must have; several times for more, or for other values',
        'none',
      ),
      field: 'federation.claims',
    },
  },
  examples: [
    {
      line: 'token create-service -o acme -n ci -s organization -p read_write --expires-in 90',
      note: 'For all projects',
    },
    {
      line: 'token create-service -o acme -n deploy -s project --project shop -p read',
      note: 'For one project; --project-id takes its id instead',
    },
    {
      line: 'token create-service -o acme -n web -s environment --project shop --env production -p read --output json',
      note: 'For one environment, with JSON output',
    },
    {
      line: 'token create-service -n web -s environment -p read --expires-in 12h --output token > token.txt',
      note: 'For the environment of this directory and half a day; write only the token to a file',
    },
    {
      line: 'token create-service -o acme -n deploy -s project --project shop -p read --issuer github --claim repository_id=123456 --claim environment=production',
      note: 'Without a value: jobs of GitHub Actions prove it, in one environment of one repository',
    },
  ],
  async run(context, { options }) {
    const { scope, name, lifetime } = options;
    refuseOtherPlaces(options);
    const federation = federationOf(options);
    if (federation !== undefined && context.printer.format === 'token') {
      throw usageError('--output token does not fit --issuer: the token has no value', 'Use --output name or json');
    }
    const organization = await context.organization(options);
    const hasIds = options.projectId !== undefined || options.environmentId !== undefined;
    const found: FoundScope = hasIds ? {} : await findScope(options, context.scopeSources, scope);
    const place = {
      ...options,
      organization,
      project: found.project?.slug,
      environment: found.environment?.slug,
    };
    const ids = await scopeIds(context, place);
    const api = context.api();
    const expiry = await expiryOf(api, lifetime);
    const body = { name, scope, permission: options.permission, ...ids, ...expiry, federation };
    const create = async (home: TokenHome): Promise<NewServiceTokenView> => {
      const answer = await call(api, tokenEndpoints(home).create, { params: homeParams(home), body });
      // Only a repeated request with an Idempotency-Key has another status.
      if (answer.status !== 201) throw foreignAnswer(api.url, answer.status);
      return answer.body;
    };
    const created = await create({ organization, project: undefined }).catch(async (error: unknown) => {
      // Admins of the project alone may create it there.
      const { project } = place;
      const isForbidden = error instanceof ClientError && error.problem?.code === 'forbidden';
      if (!isForbidden || scope === 'organization' || project === undefined) throw error;
      return create({ organization, project });
    });
    await printNewServiceToken(context, organization, created);
  },
});

type TokenScope = 'organization' | 'project' | 'environment';

interface PlaceFlags {
  readonly scope: TokenScope;
  readonly projectId: string | undefined;
  readonly environmentId: string | undefined;
  readonly project: string | undefined;
  readonly environment: string | undefined;
}

interface ScopeOptions extends PlaceFlags {
  readonly organization: string;
}

/** The flags that name the place of each scope; those of one list can be combined. */
const placeFlags: Readonly<Record<TokenScope, readonly (readonly string[])[]>> = {
  organization: [],
  project: [['--project-id'], ['--project']],
  environment: [['--environment-id'], ['--project', '--env']],
};

/** Throws for flags that would be ignored: a token must not have a wider scope than its user thinks. */
function refuseOtherPlaces({ scope, projectId, environmentId, project, environment }: PlaceFlags): void {
  const flags = {
    '--project-id': projectId,
    '--environment-id': environmentId,
    '--project': project,
    '--env': environment,
  };
  const given = Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [flag]));
  const other = given.find((flag) => !placeFlags[scope].flat().includes(flag));
  if (other !== undefined) {
    throw usageError(
      `${other} does not fit --scope ${scope}: the token would be valid for more than that`,
      `Choose a narrower --scope, or leave ${other} out`,
    );
  }
  if (given.length > 0 && !placeFlags[scope].some((list) => given.every((flag) => list.includes(flag)))) {
    throw usageError(`${given.join(' and ')} cannot be combined: give the id or the slugs`);
  }
}

/** The given ids, else those of the slugs. The server validates that they match the scope. */
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
    const found = await call(api(), 'GET /projects/{org}/{project}', { params: { org: organization, project } });
    return { projectId: found.body.id };
  }
  if (environment === undefined) throw missingPlace('--environment-id <uuid>', scope);
  const params = { org: organization, project, env: environment };
  return { environmentId: (await call(api(), 'GET /environments/{org}/{project}/{env}', { params })).body.id };
}

function missingPlace(flag: string, scope: 'project' | 'environment'): Error {
  const slugs = scope === 'project' ? '--project <slug>' : '--project <slug> --env <slug>';
  return usageError(`a token of ${scope} scope needs ${flag}`, `or its slugs: ${slugs}`);
}
