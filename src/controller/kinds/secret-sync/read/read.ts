import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { Plaintext } from '../../../../domain/plaintext.ts';
import type { Caller, ServiceTokenPrincipal } from '../../../../domain/principal.ts';
import type { FoundState, SizedKey } from '../../../../domain/secret-states.ts';
import { type ObjectMeta, objectKey } from '../../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../../kube/client/secrets.ts';
import type { Access, EnvironmentAccess, ReadingAccess } from '../../../../services/access/access.ts';
import {
  type Authentication,
  AuthenticationRefusal,
  type RefusalFault,
} from '../../../../services/access/authentication.ts';
import type { SecretReader } from '../../../../services/secrets/secret-reader.ts';
import { isOwnedBy as isTokenSecretOf } from '../../service-token/observe.ts';
import type { BoundedReads } from './bounded-reads.ts';
import { pinText } from '../spec/pin.ts';
import * as messages from '../token-messages.ts';
import { explained } from '../tokens/token-errors.ts';
import { malformationOf } from '../tokens/token-text.ts';
import type { TokenPlace } from '../tokens/token-place.ts';
import { type Source, environmentPath } from '../spec/source.ts';
import type { KeylessDeps } from './keyless.ts';
import { type SourceContext, type StateDeps, type WantedState, readState } from './state.ts';
import type { SourceFacts } from '../model.ts';
import { objectVersion } from '../../../frame/dependencies.ts';
import type { Fingerprint } from '../../../backend/fingerprint.ts';
import { statusVersionOf } from '../../service-token/versions.ts';

/** The services that a SecretSync reads with; HTTP requests use the same. */
export interface ReadServices {
  readonly authentication: Pick<Authentication, 'authenticate'>;
  readonly access: Pick<Access, 'environment'>;
  readonly secretReader: Pick<SecretReader, 'find' | 'read'>;
}

export interface ReadDeps {
  readonly services: ReadServices;
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  readonly fingerprint: Fingerprint;
  /** For sources without a token reference. */
  readonly keyless: KeylessDeps;
  /** Metadata of a token Secret by `namespace/name`, from the watch of all Secrets of ServiceTokens. */
  readonly issuedSecret: (key: string) => { readonly metadata: ObjectMeta } | undefined;
  /** The same, from the watch by name. */
  readonly followedSecret: (key: string) => { readonly metadata: ObjectMeta } | undefined;
  readonly snapshots: StateDeps['snapshots'];
}

/** What a source provides: the keys of the state that was found, before any of them is chosen. */
export interface SourceReading {
  readonly facts: SourceFacts;
  readonly source: Source;
  readonly secrets: readonly SizedKey[];
  readonly access: ReadingAccess;
  /** The state that the values are read from; undefined for one that never had any. */
  readonly found: FoundState | undefined;
}

/**
 * Authenticates with the token of one source. The token is read each time and never kept. Throws DomainError
 * token_secret_not_found, unauthenticated and store_unavailable, and ApiError.
 */
export async function readPrincipal(
  deps: ReadDeps,
  context: SourceContext,
  place: TokenPlace,
): Promise<ServiceTokenPrincipal> {
  const { seen } = context;
  try {
    const principal = await authenticateByWatched(deps, context, place);
    seen.note('service token', principal.id);
    seen.note('credential', principal.credentialId);
    return principal;
  } catch (error) {
    const refused = error instanceof DomainError ? error.cause : undefined;
    const whose = refused instanceof AuthenticationRefusal ? refused.principal : undefined;
    // The end of a suspension and the activation of a token are reported with its id.
    if (whose?.type === 'service_token') seen.note('service token', whose.id);
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'unauthenticated') seen.note('credentials', '');
    const { serviceToken } = place;
    if (serviceToken === undefined) throw error;
    seen.note('ServiceToken status', objectKey(serviceToken.metadata), statusVersionOf(serviceToken));
    throw explained(error, serviceToken);
  }
}

/**
 * Tries the version of the Secret that the watch has shown, which is faster. A refused token may have been replaced a moment
 * ago, so the newest version is read before the error counts.
 */
async function authenticateByWatched(
  deps: ReadDeps,
  context: SourceContext,
  place: TokenPlace,
): Promise<ServiceTokenPrincipal> {
  const key = objectKey(place);
  const watched = (deps.issuedSecret(key) ?? deps.followedSecret(key))?.metadata.resourceVersion;
  try {
    return await authenticateBySecret(deps, context, place, watched);
  } catch (error) {
    const mayBeOutdated = error instanceof DomainError && error.description.isTokenError === true;
    if (watched === undefined || !mayBeOutdated) throw error;
    return await authenticateBySecret(deps, context, place, undefined);
  }
}

async function authenticateBySecret(
  deps: ReadDeps,
  context: SourceContext,
  place: TokenPlace,
  notOlderThan: string | undefined,
): Promise<ServiceTokenPrincipal> {
  const { source, seen } = context;
  const key = objectKey(place);
  // The Secrets of ServiceTokens have one watch for all; any other needs one by its name.
  const isIssued = place.serviceToken !== undefined || deps.issuedSecret(key) !== undefined;
  const secret = await deps.secretsClient.find(place, notOlderThan);
  seen.renote(isIssued ? 'issued Secret' : 'Secret', key, objectVersion(secret?.metadata));
  return await authenticate(deps.services, tokenIn(secret, place, source), place, context);
}

/** Admits a source's token to its environment. Throws DomainError not_found and forbidden. */
export async function enterSource(
  { services }: ReadDeps,
  { source, requestId }: SourceContext,
  principal: ServiceTokenPrincipal,
): Promise<EnvironmentAccess<'secret.list'>> {
  return await enter(services, { principal, requestId, sourceAddress: null }, source);
}

/** Finds one state of a source's environment, its newest or any other, without values. Throws DomainError not_found and what `readState` throws. */
export async function readSource(
  deps: ReadDeps,
  { resource, source, requestId, seen }: SourceContext,
  access: ReadingAccess,
  { wanted, reads }: { readonly wanted: WantedState; readonly reads: BoundedReads },
): Promise<SourceReading> {
  const state = await readState(deps, { resource, source, requestId, seen, access, reads }, wanted);
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
  place: TokenPlace,
  context: SourceContext,
): Promise<ServiceTokenPrincipal> {
  try {
    const principal = await authentication.authenticate(token.reveal());
    if (principal.type === 'service_token') return principal;
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'unauthenticated') throw error;
    throw tokenError(token, place, context, error);
  }
  throw messages.withNewToken(messages.personalToken(place), context.resource, context.source);
}

/** The refusal of a token, with what to do about its Secret. */
function tokenError(
  token: Plaintext,
  place: TokenPlace,
  { resource, source }: SourceContext,
  refusal: DomainError,
): DomainError {
  const fault = refusal instanceof AuthenticationRefusal ? refusal.fault : undefined;
  const malformation = fault === 'malformed' ? malformationOf(token) : undefined;
  // A value that is no token, not even a damaged one, must look like a missing key.
  if (fault === 'malformed' && malformation === undefined) return messages.tokenMissing(place.name, place.key, source);
  const refused = messages.tokenRefused(place, malformation ?? refusal.detail, refusal);
  // A ServiceToken replaces its value itself.
  const isReplaceable = place.serviceToken === undefined && fault !== undefined && replaceableFaults.has(fault);
  return isReplaceable ? messages.withNewToken(refused, resource, source) : refused;
}

// With any other, the same token can work again.
const replaceableFaults: ReadonlySet<RefusalFault> = new Set([
  'malformed',
  'unknown',
  'revoked',
  'expired',
  'scope_deleted',
]);

function tokenIn(secret: SecretObject | undefined, { name, key, serviceToken }: TokenPlace, source: Source): Plaintext {
  if (secret === undefined) throw messages.tokenMissing(name, key, source);
  // A ServiceToken's spec may name any Secret: only the one that it wrote holds its token.
  if (serviceToken !== undefined && !isTokenSecretOf(secret, serviceToken))
    throw messages.tokenSecretUnmanaged(name, serviceToken.metadata.name);
  const value = Object.hasOwn(secret.data ?? {}, key) ? secret.data?.[key] : undefined;
  // A token from `kubectl create secret --from-file` often ends with a line break.
  const text = value === undefined ? '' : Buffer.from(value, 'base64').toString('utf8').trim();
  if (text === '') throw messages.tokenMissing(name, key, source);
  return new Plaintext(text);
}
