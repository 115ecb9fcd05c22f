import { type ApiClient, apiPath } from '../../client/api-client.ts';
import type { InvitationListView } from '../../wire/invitations.ts';
import type { MemberView } from '../../wire/members.ts';
import type { SecretKeyListView } from '../../wire/secrets.ts';
import type { PersonalTokenView } from '../../wire/personal-tokens.ts';
import { limits, validateSecretKeyPrefix } from '../../wire/secret-rules.ts';
import type { ServiceTokenListView, ServiceTokenView } from '../../wire/service-tokens.ts';
import type { SnapshotListView } from '../../wire/snapshots.ts';
import type { VersionListView } from '../../wire/versions.ts';
import { type TokenLife, tokenState } from '../../wire/token-state.ts';
import type { Scope, ScopeName } from '../settings/scope.ts';
import type { Candidate, Sources } from './candidates.ts';
import type { GivenInput } from './line.ts';

// What is older is seldom meant, and a terminal shows no more.
const maxCandidates = 100;

export interface SourceDeps {
  /** Throws if there is no token. */
  readonly api: (given: GivenInput) => ApiClient;
  /** Throws if a slug is missing or the folder file is not trusted. */
  readonly scope: (given: GivenInput, deepest: ScopeName) => Scope;
}

type Query = Readonly<Record<string, string | number | boolean>>;

type Get = <Body>(given: GivenInput, path: string, query?: Query) => Promise<Body>;
type TenantLevel = 'organization' | 'project' | 'environment';
type TokenSource = 'serviceToken' | 'revokedKeylessToken' | 'personalToken';
type TenantSource = TenantLevel | `deleted${Capitalize<TenantLevel>}`;

interface Named {
  readonly slug: string;
  readonly displayName: string;
}

/** Lists from the API: names, numbers and ids, and never a value. */
export function apiSources({ api, scope }: SourceDeps): Sources {
  const get: Get = async (given, path, query = {}) => await api(given).get(path, { query });
  return {
    ...tenantSources(get, scope),
    key: async (given, current) => {
      // A word of `set` such as KEY=VALUE holds a value, which must not become part of an address.
      if (current !== '' && validateSecretKeyPrefix(current) !== undefined) return [];
      const { organization, project, environment } = scope(given, 'environment');
      const path = apiPath`/secrets/${organization}/${project}/${environment}`;
      const { secrets } = await get<SecretKeyListView>(given, path, {
        values: false,
        ...(current === '' ? {} : { prefix: current }),
      });
      return secrets.map(({ key, version }) => ({ word: key, description: `version ${version}` }));
    },
    version: async (given) => {
      const { organization, project, environment } = scope(given, 'environment');
      // A word of `set` such as KEY=VALUE holds a value, which must not become part of an address.
      const [key = ''] = (given.args[0] ?? '').split('=');
      if (validateSecretKeyPrefix(key) !== undefined) return [];
      const path = apiPath`/versions/${organization}/${project}/${environment}/${key}`;
      const { versions } = await get<VersionListView>(given, path, { limit: maxCandidates });
      return versions.map(({ version, changeType, createdAt, changedByName }) => ({
        word: String(version),
        description: `${changeType} ${createdAt} by ${changedByName}`,
      }));
    },
    snapshot: async (given) => {
      const { organization, project, environment } = scope(given, 'environment');
      const path = apiPath`/snapshots/${organization}/${project}/${environment}`;
      const { snapshots } = await get<SnapshotListView>(given, path, { limit: maxCandidates });
      return snapshots.map(({ id, name, createdAt }) => ({
        word: id,
        description: `${name ?? ''} ${createdAt}`.trim(),
      }));
    },
    ...tokenSources(get, scope),
    invitation: async (given) => {
      const { invitations } = await get<InvitationListView>(given, '/invitations');
      const byOrganization = Map.groupBy(invitations, ({ organization }) => organization);
      return Array.from(byOrganization, ([word, some]) => ({
        word,
        description: some.map(({ role, invitedBy }) => `${role} by ${invitedBy.email}`).join(', '),
      }));
    },
    member: async (given) => {
      const path = apiPath`/members/${scope(given, 'organization').organization}`;
      const { members } = await get<{ members: MemberView[] }>(given, path);
      return members.map(({ email, displayName, role }) => ({
        word: email,
        description: `${displayName ?? ''} ${role}`.trim(),
      }));
    },
  };
}

/** Tokens, by what the command can do with them: an ended one cannot be revoked or rotated. */
function tokenSources(get: Get, scope: SourceDeps['scope']): Pick<Sources, TokenSource> {
  const serviceTokens = async (given: GivenInput): Promise<readonly ServiceTokenView[]> => {
    const path = apiPath`/service-tokens/${scope(given, 'organization').organization}`;
    const list = await get<ServiceTokenListView>(given, path, { limit: limits.pageSize });
    return list.serviceTokens;
  };
  return {
    serviceToken: async (given) => tokensOf(await serviceTokens(given), isLive),
    revokedKeylessToken: async (given) =>
      tokensOf(await serviceTokens(given), ({ holder, revokedAt }) => holder !== null && revokedAt !== null),
    personalToken: async (given) => {
      const query = { limit: limits.pageSize };
      const list = await get<{ personalTokens: PersonalTokenView[] }>(given, '/personal-tokens', query);
      return tokensOf(list.personalTokens, isLive);
    },
  };
}

function isLive(token: TokenLife): boolean {
  return ['active', 'suspended'].includes(tokenState(token, new Date()));
}

function tokensOf<Token extends { readonly id: string; readonly name: string }>(
  tokens: readonly Token[],
  isOffered: (token: Token) => boolean,
): Candidate[] {
  const offered = tokens.filter(isOffered).slice(0, maxCandidates);
  return offered.map(({ id, name }) => ({ word: id, description: name }));
}

/** Organizations, projects and environments, live and deleted ones. */
function tenantSources(get: Get, scope: SourceDeps['scope']): Pick<Sources, TenantSource> {
  const organizations = async (given: GivenInput, query?: Query): Promise<Candidate[]> => {
    const list = await get<{ organizations: Named[] }>(given, '/organizations', query);
    return list.organizations.map(named);
  };
  const projects = async (given: GivenInput, query?: Query): Promise<Candidate[]> => {
    const { organization } = scope(given, 'organization');
    const list = await get<{ projects: Named[] }>(given, apiPath`/projects/${organization}`, query);
    return list.projects.map(named);
  };
  const environments = async (given: GivenInput, query?: Query): Promise<Candidate[]> => {
    const { organization, project } = scope(given, 'project');
    const path = apiPath`/environments/${organization}/${project}`;
    const list = await get<{ environments: Named[] }>(given, path, query);
    return list.environments.map(named);
  };
  return {
    organization: async (given) => await organizations(given),
    project: async (given) => await projects(given),
    environment: async (given) => await environments(given),
    deletedOrganization: async (given) => await organizations(given, { deleted: true }),
    deletedProject: async (given) => await projects(given, { deleted: true }),
    deletedEnvironment: async (given) => await environments(given, { deleted: true }),
  };
}

function named({ slug, displayName }: Named): Candidate {
  return { word: slug, description: displayName };
}
