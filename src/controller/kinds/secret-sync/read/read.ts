import { DomainError } from '../../../../domain/domain-error.ts';
import type { ErrorCode } from '../../../../domain/error-catalogue.ts';
import { Plaintext } from '../../../../domain/plaintext.ts';
import type { Caller, ServiceTokenPrincipal } from '../../../../domain/principal.ts';
import { isApiStatus } from '../../../../kube/api-error.ts';
import { type ObjectMeta, objectKey } from '../../../../kube/objects.ts';
import type { SecretObject, SecretsClient } from '../../../../kube/secrets.ts';
import type { Access, EnvironmentAccess } from '../../../../services/access.ts';
import { type Authentication, AuthenticationRefusal } from '../../../../services/authentication.ts';
import type { FoundState, SecretReader, SizedKey } from '../../../../services/secret-reader.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { isOwnedBy as isTokenSecretOf } from '../../service-token/observe.ts';
import type { BoundedReads } from './bounded-reads.ts';
import type { SourceMemory, SyncMemories, SyncMemory } from '../memory.ts';
import { pinText } from '../spec/pin.ts';
import { explained, notTheTokens } from '../tokens/service-token-refusals.ts';
import type { TokenPlace } from '../tokens/service-token.ts';
import { type Source, environmentPath, fieldOf } from '../spec/source.ts';
import { type StateDeps, type WantedState, expectCommits, readState } from './state.ts';
import type { SourceFacts } from '../model.ts';
import type { Fingerprint } from '../../../frame/fingerprint.ts';

const tokenFaults: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'token_secret_not_found']);

/** The services that a SecretSync reads through, as HTTP does. */
export interface ReadServices {
  readonly authentication: Pick<Authentication, 'authenticate'>;
  readonly access: Pick<Access, 'environment'>;
  readonly secretReader: Pick<SecretReader, 'find' | 'read'>;
}

export interface ReadDeps {
  readonly services: ReadServices;
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  readonly fingerprint: Fingerprint;
  readonly memories: SyncMemories;
  /** Metadata of a token Secret by `namespace/name`, as the watch by its name shows it. */
  readonly watchedToken: (key: string) => { readonly metadata: ObjectMeta } | undefined;
  readonly snapshots: StateDeps['snapshots'];
}

/** One SecretSync's reconcile. */
export interface Round {
  readonly key: string;
  readonly sync: SecretSync;
  readonly memory: SyncMemory;
  /** Under which the audit keeps the reads of this reconcile. */
  readonly requestId: string;
}

/** The part of a reconcile that one source has. */
export interface SourceRound {
  /** See `sourceKeyOf`. */
  readonly sourceKey: string;
  readonly sync: SecretSync;
  readonly source: Source;
  readonly memory: SourceMemory;
  readonly requestId: string;
}

/** A source whose token has been admitted to its environment. */
export interface EnteredSource {
  readonly principal: ServiceTokenPrincipal;
  readonly access: EnvironmentAccess<'secret.list'>;
}

/** What a source gives: the keys of the state that was found, before any of them is chosen. */
export interface SourceReading {
  readonly facts: SourceFacts;
  readonly source: Source;
  readonly secrets: readonly SizedKey[];
  readonly access: EnvironmentAccess<'secret.list'>;
  /** What the values are read from; undefined for a state that never had any. */
  readonly found: FoundState | undefined;
}

/**
 * Authenticates with the token of one source. The token is read each time and kept nowhere. Throws DomainError
 * token_secret_not_found, unauthenticated and store_unavailable, and ApiError.
 */
export async function readPrincipal(
  deps: ReadDeps,
  round: SourceRound,
  place: TokenPlace,
): Promise<ServiceTokenPrincipal> {
  try {
    const principal = await authenticateByWatched(deps, round, place);
    deps.memories.setServiceToken(round.sourceKey, principal.id);
    return principal;
  } catch (error) {
    const refused = error instanceof DomainError ? error.cause : undefined;
    const whose = refused instanceof AuthenticationRefusal ? refused.principal : undefined;
    // One that is suspended, or not active yet, tells by its id when that is over.
    if (whose?.type === 'service_token') deps.memories.setServiceToken(round.sourceKey, whose.id);
    if (!(error instanceof DomainError) || place.serviceToken === undefined) throw error;
    throw explained(error, place.serviceToken);
  }
}

/**
 * What the watch has shown is good enough to begin with, and quicker to get. A token that is refused may have been replaced
 * a moment ago, so the newest one is asked for before the refusal counts.
 */
async function authenticateByWatched(
  deps: ReadDeps,
  round: SourceRound,
  place: TokenPlace,
): Promise<ServiceTokenPrincipal> {
  const watched = deps.watchedToken(objectKey(place))?.metadata.resourceVersion;
  try {
    return await authenticateBySecret(deps, round, place, watched);
  } catch (error) {
    const mayBeOutdated = error instanceof DomainError && tokenFaults.has(error.code);
    // The server that was asked is behind the one that the watch reads from, or was restored from a backup.
    const isBehind = isApiStatus(error, 410, 504);
    if (watched === undefined || !(mayBeOutdated || isBehind)) throw error;
    return await authenticateBySecret(deps, round, place, undefined);
  }
}

async function authenticateBySecret(
  deps: ReadDeps,
  { source, memory }: SourceRound,
  place: TokenPlace,
  notOlderThan: string | undefined,
): Promise<ServiceTokenPrincipal> {
  const secret = await deps.secretsClient.find(place, notOlderThan);
  memory.tokenVersion = secret === undefined ? 'absent' : tokenVersionOf(secret);
  return await authenticate(deps.services, tokenIn(secret, place, source), place.name);
}

/**
 * Has a source's token admitted to its environment, which is to be read at `wanted` next. Events of it concern the source
 * from then on. Throws DomainError not_found and forbidden.
 */
export async function enterSource(
  { services, memories }: ReadDeps,
  { sourceKey, source, memory, requestId }: SourceRound,
  { principal, wanted }: { readonly principal: ServiceTokenPrincipal; readonly wanted: WantedState },
): Promise<EnteredSource> {
  expectCommits(wanted, memory);
  const path = environmentPath(source);
  // Before the look-up: an environment that is made after it is told to us.
  if (memory.environmentPath !== path || !memories.isResolved(sourceKey)) memories.markUnresolved(sourceKey);
  memory.environmentPath = path;
  const access = await enter(services, { principal, requestId, sourceAddress: null }, source);
  // Before the read: what is committed after it is told to us.
  memories.setEnvironment(sourceKey, access.environmentId);
  return { principal, access };
}

/** Finds one state of a source's environment, its newest or any other, without values. Throws DomainError not_found and what `readState` throws. */
export async function readSource(
  deps: ReadDeps,
  { sync, source, memory, requestId }: SourceRound,
  { principal, access }: EnteredSource,
  { wanted, reads }: { readonly wanted: WantedState; readonly reads: BoundedReads },
): Promise<SourceReading> {
  const state = await readState(deps, { sync, source, memory, requestId, principal, access, reads }, wanted);
  const { revision, revisionId, secrets, destroyed, found } = state;
  const facts: SourceFacts = {
    name: source.name,
    path: environmentPath(source),
    environmentId: access.environmentId,
    pin: pinText(source),
    revision,
    revisionId,
    keys: [...secrets, ...destroyed].map(({ key }) => key),
  };
  return { facts, source, secrets, access, found };
}

/** Tells one version of a token Secret from another. */
export function tokenVersionOf({ metadata }: { readonly metadata: ObjectMeta }): string {
  return `${metadata.uid}/${metadata.resourceVersion}`;
}

async function enter(
  { access }: ReadServices,
  caller: Caller,
  { environmentRef }: Source,
): Promise<EnvironmentAccess<'secret.list'>> {
  const { organization, project, name: environment } = environmentRef;
  return await access.environment(caller, 'secret.list', { organization, project, environment });
}

async function authenticate(
  { authentication }: ReadServices,
  token: Plaintext,
  secretName: string,
): Promise<ServiceTokenPrincipal> {
  try {
    const principal = await authentication.authenticate(token.reveal());
    if (principal.type === 'service_token') return principal;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error;
    const detail = `The token in Secret ${secretName} was refused: ${error.detail}`;
    throw new DomainError('unauthenticated', detail, { cause: error });
  }
  throw new DomainError(
    'unauthenticated',
    `Secret ${secretName} holds a personal token; put a service token (kf_svc_…) there`,
  );
}

function tokenIn(secret: SecretObject | undefined, { name, key, serviceToken }: TokenPlace, source: Source): Plaintext {
  if (secret === undefined) {
    throw new DomainError(
      'token_secret_not_found',
      `There is no Secret ${name} in this namespace: make it, with a service token under the key ${key}`,
    );
  }
  // A ServiceToken's spec may name any Secret: only the one that it wrote holds its token.
  if (serviceToken !== undefined && !isTokenSecretOf(secret, serviceToken)) throw notTheTokens(serviceToken);
  const value = Object.hasOwn(secret.data ?? {}, key) ? secret.data?.[key] : undefined;
  // A token made by `kubectl create secret --from-file` often has a line's end.
  const text = value === undefined ? '' : Buffer.from(value, 'base64').toString('utf8').trim();
  if (text === '') {
    throw new DomainError(
      'token_secret_not_found',
      `Secret ${name} has no key ${key}: put a service token there, or name its key in ${fieldOf(source, 'tokenSecretRef.key')}`,
    );
  }
  return new Plaintext(text);
}
