import type { ApiClient } from '../../client/api-client.ts';
import { call } from '../../client/call.ts';
import { ClientError } from '../../client/client-error.ts';
import { CliError } from './cli-error.ts';
import { readKeys, scopeFlags, shownScope } from '../commands/secret/secrets-api.ts';
import { type TenantKind, listedTenants, tenantKinds, tenantParams } from '../commands/tenant/tenant-kinds.ts';
import { exitCodes } from './exit-codes.ts';
import { nearest } from './nearest.ts';
import { formatHint } from './option-synonyms.ts';
import { type Scope, scopeOfToken, scopeParams } from '../settings/scope.ts';

/**
 * Explains "not found": finds out what is missing (the server, an organization, a project, an environment, a secret, a
 * version or a revision) with a few reads, and names the command that lists what exists and the most similar name.
 */
export async function explainNotFound(error: unknown, api: () => ApiClient): Promise<unknown> {
  if (!(error instanceof ClientError) || error.problem?.code !== 'not_found') return error;
  const requested = parsePath(error.path);
  try {
    const { message = error.message, next } = aboutDeleted(requested) ?? (await explanationOf(error, requested, api));
    return new CliError(exitCodes.notFound, message, { cause: error, next });
  } catch {
    // The reads failed: the error is shown as it is.
    return error;
  }
}

interface Explanation {
  /** In place of the message of the server. */
  readonly message?: string;
  readonly next: readonly string[];
}

/** What was requested: the kind of resource, the slugs from the organization down, and what follows them. */
interface Requested {
  readonly kind: string;
  readonly slugs: readonly string[];
  readonly rest: readonly string[];
  /** The past revision that was to be read. */
  readonly revision: string | undefined;
}

/** How many slugs a path has behind its kind. */
const slugCounts: Readonly<Record<string, number>> = {
  organizations: 1,
  audit: 1,
  members: 1,
  'service-tokens': 1,
  projects: 2,
  environments: 3,
  secrets: 3,
  versions: 3,
  snapshots: 3,
  changes: 3,
};

function parsePath(path: string): Requested {
  const { pathname, searchParams } = new URL(path, 'http://server');
  const [kind = '', ...segments] = pathname.slice(1).split('/').map(decodeURIComponent);
  // Without its slugs, a snapshot is found by its id alone.
  const count = kind === 'snapshots' && segments.length === 1 ? 0 : (slugCounts[kind] ?? 0);
  const revision = searchParams.get('revision') ?? searchParams.get('since') ?? undefined;
  return { kind, slugs: segments.slice(0, count), rest: segments.slice(count), revision };
}

type List = (organization: string) => readonly string[];

/** Where users see what there is, for what is not in an environment. */
const lists: Readonly<Record<string, List>> = {
  users: () => ['See all users: keyframe user list'],
  'personal-tokens': () => ['See your tokens: keyframe token list'],
  'trusted-issuers': () => ['See the trusted issuers, as an administrator of the server: keyframe issuer list --all'],
  'service-tokens': (organization) => [`See the tokens: keyframe token list-service -o ${organization}`],
  clusters: () => ['See the clusters, as an administrator of the server: keyframe cluster list --all'],
  invitations: () => ['See your invitations: keyframe invitation list'],
  members: membersAndUsers,
  // Their owner.
  organizations: membersAndUsers,
};

// A missing user may not be created yet.
function membersAndUsers(organization: string): readonly string[] {
  return [
    `See the members: keyframe member list -o ${organization}`,
    'See all users, or create one, as an administrator of the server: keyframe user list, keyframe user create <email>',
  ];
}

// A missing user may not be created yet, and a role may be at another place.
function rolesAndUsers(slugs: readonly string[]): readonly string[] {
  return [
    `See the roles: keyframe role list${flagsOf(slugs.slice(0, 1))}`,
    'See all users, or create one, as an administrator of the server: keyframe user list, keyframe user create <email>',
  ];
}

/** Throws if a read fails for another reason than that something is missing. */
async function explanationOf(error: ClientError, requested: Requested, api: () => ApiClient): Promise<Explanation> {
  const { kind, slugs, rest } = requested;
  // These paths exist on every server.
  if (kind === 'me' || slugs.length + rest.length === 0) return wrongAddress(error.url);
  const list = lists[kind];
  if (slugs.length === 0) return { next: withoutPlace(kind) };
  const client = api();
  const missing = await missingLevel(client, slugs);
  if (missing === 'server') return wrongAddress(error.url);
  if (missing !== undefined) return { ...missing, next: [...(await outsideScope(client, slugs)), ...missing.next] };
  if (rest[0] === 'roles') return { next: rolesAndUsers(slugs) };
  return list === undefined ? await inEnvironment(client, error, requested) : { next: list(slugs[0] ?? '') };
}

function withoutPlace(kind: string): readonly string[] {
  return kind === 'snapshots' ? ['See the snapshots: keyframe snapshot list'] : (lists[kind]?.('') ?? []);
}

function wrongAddress(url: string): Explanation {
  return {
    message: `${url} is not the address of a Keyframe server: its API is not found below this path`,
    next: ['Give the address of the server without /api/v1: --url, KEYFRAME_URL or keyframe login'],
  };
}

const levels = [
  { word: 'organization', command: 'org', plural: 'organizations' },
  { word: 'project', command: 'project', plural: 'projects' },
  { word: 'environment', command: 'env', plural: 'environments' },
] as const;

/** What was to be undeleted or purged is not in the lists of what exists. */
function aboutDeleted({ slugs, rest: [verb = ''] }: Requested): Explanation | undefined {
  if (!['undelete', 'purge'].includes(verb)) return undefined;
  const { command, plural } = levels[slugs.length - 1] ?? levels[0];
  return { next: [`See the deleted ${plural}: keyframe ${command} list --deleted${flagsOf(slugs.slice(0, -1))}`] };
}

function flagsOf(parents: readonly string[]): string {
  return parents.map((parent, index) => ` ${['-o', '-p'][index]} ${parent}`).join('');
}

/** The first of the slugs that does not exist; `server` if the address is wrong, undefined if all of them exist. */
async function missingLevel(api: ApiClient, slugs: readonly string[]): Promise<Explanation | 'server' | undefined> {
  for (let depth = slugs.length; depth > 0; depth -= 1) {
    const parents = slugs.slice(0, depth - 1);
    const slug = slugs[depth - 1] ?? '';
    const level = levels[depth - 1] ?? levels[0];
    const present = await slugsBelow(api, parents, level.command);
    if (present === undefined) continue;
    if (present.includes(slug)) return undefined;
    return {
      message: `${level.word} ${[...parents, slug].join('/')} does not exist, or is not visible to you`,
      next: [
        ...(parents.length === 0 ? formatHint(slug) : []),
        ...nextOfLevel(level, [...parents, slug], suggestion(slug, present)),
      ],
    };
  }
  return slugs.length === 0 ? undefined : 'server';
}

function nextOfLevel(
  { command, plural }: (typeof levels)[number],
  slugs: readonly string[],
  suggested: readonly string[],
): string[] {
  const flags = flagsOf(slugs.slice(0, -1));
  // What is deleted is not asked for: the audit would record a refusal. Undeleting a mistyped name changes nothing.
  const undelete = `If it was deleted, take that back: keyframe ${command} undelete ${slugs.at(-1)}${flags}`;
  return [
    ...suggested,
    `See the ${plural}: keyframe ${command} list${flags}`,
    ...(command === 'org' ? [] : [undelete]),
  ];
}

/** What a service token is for, if the place is outside its scope. */
async function outsideScope(api: ApiClient, slugs: readonly string[]): Promise<string[]> {
  const place = scopeOfToken((await call(api, 'GET /me')).body);
  if (place === undefined) return [];
  const own = [place.organization, place.project, place.environment].filter((slug) => slug !== undefined);
  if (own.every((slug, index) => slugs[index] === undefined || slugs[index] === slug)) return [];
  return [`The token is for ${own.join('/')} only. Leave -o, -p and -e out, or use another token`];
}

/** The slugs that the caller sees; undefined if their parent does not exist. */
async function slugsBelow(api: ApiClient, parents: readonly string[], kind: TenantKind): Promise<string[] | undefined> {
  const list = await unlessMissing(call(api, tenantKinds[kind].endpoints.list, { params: tenantParams(parents) }));
  return list === undefined ? undefined : listedTenants(list.body).map(({ slug }) => slug);
}

/** The environment exists: what is missing is in it. */
async function inEnvironment(api: ApiClient, error: ClientError, requested: Requested): Promise<Explanation> {
  const { kind, slugs } = requested;
  const [organization = '', project = '', environment = ''] = slugs;
  const place = { organization, project, environment };
  const message = placed(error.message, shownScope(place));
  switch (kind) {
    case 'snapshots':
      return { message, next: [`See the snapshots: keyframe snapshot list ${scopeFlags(place)}`] };
    case 'changes':
      return { message, next: [`See the revisions: keyframe history ${scopeFlags(place)}`] };
    default:
      return {
        message,
        next: (await nextOfVersion(api, place, requested)) ?? (await nextOfKey(api, place, requested, error)),
      };
  }
}

/** The next steps if a version of an existing secret is missing. */
async function nextOfVersion(api: ApiClient, place: Scope, { kind, rest }: Requested): Promise<string[] | undefined> {
  const [key] = rest;
  if (kind !== 'versions' || key === undefined) return undefined;
  const newest = await newestVersion(api, place, key);
  return newest === undefined ? undefined : [`See its versions: keyframe versions ${key} ${scopeFlags(place)}`];
}

/** The number of the newest version of a secret, also of a deleted one; undefined if there never was such a secret. */
async function newestVersion(api: ApiClient, place: Scope, key: string): Promise<number | undefined> {
  const request = { params: { ...scopeParams(place), key }, query: { limit: '1' } };
  const list = await unlessMissing(call(api, 'GET /versions/{org}/{project}/{env}/{key}', request));
  return list?.body.versions[0]?.version;
}

/** The next steps if a secret is missing, or the revision that it was to be read at. */
async function nextOfKey(
  api: ApiClient,
  place: Scope,
  { rest, revision }: Requested,
  { message }: ClientError,
): Promise<string[]> {
  const keys = await unlessMissing(readKeys(api, place, { revision }));
  if (keys === undefined) return [`See the revisions: keyframe history ${scopeFlags(place)}`];
  // A change of several secrets names the missing ones only in the message.
  const missing = rest[0] ?? /^secrets? ([^ ,]+)/.exec(message)?.[1] ?? '';
  if (revision === undefined && missing !== '') {
    const version = await newestVersion(api, place, missing);
    const flags = `--version ${version} --undelete ${scopeFlags(place)}`;
    if (version !== undefined) return [`It is deleted. Restore it: keyframe rollback ${missing} ${flags}`];
  }
  const present = keys.secrets.map(({ key }) => key);
  const at = revision === undefined ? '' : ` --revision ${revision}`;
  return [...suggestion(missing, present), `See the secrets: keyframe list ${scopeFlags(place)}${at}`];
}

/** The message of the server, with the name of the environment. */
function placed(message: string, place: string): string {
  if (message.includes(place)) return message;
  const named = message.replace(/\b(?:this|the) environment\b/, place);
  return named === message ? `${message} in ${place}` : named;
}

function suggestion(word: string, candidates: readonly string[]): string[] {
  const found = nearest(word, candidates);
  return found === undefined ? [] : [`Did you mean ${found}?`];
}

/** Undefined for something that does not exist. Throws other errors. */
async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ClientError && error.isNotFound) return undefined;
    throw error;
  }
}
