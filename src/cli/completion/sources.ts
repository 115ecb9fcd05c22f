import type { ApiClient } from '../../client/api-client.ts';
import { call } from '../../client/call.ts';
import { limits, validateSecretKeyPrefix } from '../../wire/secret-rules.ts';
import type { ServiceTokenView } from '../../wire/service-tokens.ts';
import { type TokenLife, tokenState } from '../../wire/token-state.ts';
import { type Scope, type ScopeName, scopeParams } from '../settings/scope.ts';
import type { Candidate, Sources } from './candidates.ts';
import type { GivenInput } from './line.ts';

// What is older is seldom meant, and a terminal shows no more.
const maxCandidates = 100;

export interface SourceDeps {
  /** Throws if there is no token. */
  readonly api: (given: GivenInput) => ApiClient;
  /** Throws if a slug is missing or the folder file is not trusted. */
  readonly scope: (given: GivenInput, deepest: ScopeName) => Promise<Scope>;
}

type TenantLevel = 'organization' | 'project' | 'environment';
type TokenSource = 'serviceToken' | 'revokedKeylessToken' | 'personalToken';
type TenantSource = TenantLevel | `deleted${Capitalize<TenantLevel>}`;

interface TenantQuery {
  readonly deleted?: 'true';
}

interface Named {
  readonly slug: string;
  readonly displayName: string;
}

/** Lists from the API: names, numbers and ids, and never a value. */
export function apiSources({ api, scope }: SourceDeps): Sources {
  return {
    ...tenantSources({ api, scope }),
    key: async (given, current) => {
      // A word of `set` such as KEY=VALUE holds a value, which must not become part of an address.
      if (current !== '' && validateSecretKeyPrefix(current) !== undefined) return [];
      const params = scopeParams(await scope(given, 'environment'));
      const query = { values: 'false', ...(current === '' ? {} : { prefix: current }) } as const;
      const { body } = await call(api(given), 'GET /secrets/{org}/{project}/{env}', { params, query });
      return body.secrets.map(({ key, version }) => ({ word: key, description: `version ${version}` }));
    },
    version: async (given) => {
      const place = scopeParams(await scope(given, 'environment'));
      // A word of `set` such as KEY=VALUE holds a value, which must not become part of an address.
      const [key = ''] = (given.args[0] ?? '').split('=');
      if (validateSecretKeyPrefix(key) !== undefined) return [];
      const request = { params: { ...place, key }, query: newestQuery };
      const { body } = await call(api(given), 'GET /versions/{org}/{project}/{env}/{key}', request);
      return body.versions.map(({ version, changeType, createdAt, changedByName }) => ({
        word: String(version),
        description: `${changeType} ${createdAt} by ${changedByName}`,
      }));
    },
    snapshot: async (given) => {
      const request = { params: scopeParams(await scope(given, 'environment')), query: newestQuery };
      const { body } = await call(api(given), 'GET /snapshots/{org}/{project}/{env}', request);
      return body.snapshots.map(({ id, name, createdAt }) => ({
        word: id,
        description: `${name ?? ''} ${createdAt}`.trim(),
      }));
    },
    ...tokenSources({ api, scope }),
    invitation: async (given) => {
      const { invitations } = (await call(api(given), 'GET /invitations')).body;
      const organizations = new Set(invitations.map(({ organization }) => organization));
      return Array.from(organizations, (word) => ({
        word,
        description: invitations
          .filter(({ organization }) => organization === word)
          .map(({ role, invitedBy }) => `${role} by ${invitedBy.email}`)
          .join(', '),
      }));
    },
    member: async (given) => {
      const { members } = (
        await call(api(given), 'GET /members/{org}', { params: await organizationParams(scope, given) })
      ).body;
      return members.map(({ email, displayName, role }) => ({
        word: email,
        description: `${displayName ?? ''} ${role}`.trim(),
      }));
    },
    cluster: async (given) => {
      const request = { params: await organizationParams(scope, given) };
      const { clusters } = (await call(api(given), 'GET /organizations/{org}/clusters', request)).body;
      return clusters.map(({ name, rules }) => ({ word: name, description: `${rules?.length ?? 'no'} rules` }));
    },
    servedCluster: async (given) => {
      const { clusters } = (await call(api(given), 'GET /clusters')).body;
      return clusters.map(({ name, state }) => ({ word: name, description: state }));
    },
    trustedIssuer: async (given) => {
      const { trustedIssuers } = (await call(api(given), 'GET /trusted-issuers')).body;
      return trustedIssuers.map(({ name, iss }) => ({ word: name, description: iss }));
    },
  };
}

const newestQuery = { limit: String(maxCandidates) };
const pageQuery = { limit: String(limits.pageSize) };

async function organizationParams(scope: SourceDeps['scope'], given: GivenInput): Promise<{ readonly org: string }> {
  return { org: (await scope(given, 'organization')).organization };
}

/** Tokens, by what the command can do with them: an ended one cannot be revoked or rotated. */
function tokenSources({ api, scope }: SourceDeps): Pick<Sources, TokenSource> {
  const serviceTokens = async (given: GivenInput): Promise<readonly ServiceTokenView[]> => {
    const request = { params: await organizationParams(scope, given), query: pageQuery };
    return (await call(api(given), 'GET /service-tokens/{org}', request)).body.serviceTokens;
  };
  return {
    serviceToken: async (given) => tokensOf(await serviceTokens(given), isLive),
    revokedKeylessToken: async (given) =>
      tokensOf(await serviceTokens(given), ({ holder, revokedAt }) => holder !== null && revokedAt !== null),
    personalToken: async (given) => {
      const { personalTokens } = (await call(api(given), 'GET /personal-tokens', { query: pageQuery })).body;
      return tokensOf(personalTokens, isLive);
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
function tenantSources({ api, scope }: SourceDeps): Pick<Sources, TenantSource> {
  const organizations = async (given: GivenInput, query: TenantQuery = {}): Promise<Candidate[]> =>
    (await call(api(given), 'GET /organizations', { query })).body.organizations.map(named);
  const projects = async (given: GivenInput, query: TenantQuery = {}): Promise<Candidate[]> => {
    const request = { params: await organizationParams(scope, given), query };
    return (await call(api(given), 'GET /projects/{org}', request)).body.projects.map(named);
  };
  const environments = async (given: GivenInput, query: TenantQuery = {}): Promise<Candidate[]> => {
    const request = { params: scopeParams(await scope(given, 'project')), query };
    return (await call(api(given), 'GET /environments/{org}/{project}', request)).body.environments.map(named);
  };
  return {
    organization: async (given) => await organizations(given),
    project: async (given) => await projects(given),
    environment: async (given) => await environments(given),
    deletedOrganization: async (given) => await organizations(given, { deleted: 'true' }),
    deletedProject: async (given) => await projects(given, { deleted: 'true' }),
    deletedEnvironment: async (given) => await environments(given, { deleted: 'true' }),
  };
}

function named({ slug, displayName }: Named): Candidate {
  return { word: slug, description: displayName };
}
