import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { Plaintext } from '../../../../domain/plaintext.ts';
import type { SourceCredential, SourceRefusal } from '../../../../domain/source-reads.ts';
import { type ObjectMeta, objectKey } from '../../../../kube/client/objects.ts';
import type { SecretObject, SecretsClient } from '../../../../kube/client/secrets.ts';
import { objectVersion } from '../../../frame/dependencies.ts';
import { isOwnedBy as isTokenSecretOf } from '../../service-token/observe.ts';
import type { Source } from '../spec/source.ts';
import * as messages from '../token-messages.ts';
import type { SourceToken, TokenPlace } from '../tokens/token-place.ts';
import type { SourceContext } from './state.ts';

/** The tokens of sources, from their Secrets. They are read each time and never kept. */

export interface TokenDeps {
  readonly secretsClient: Pick<SecretsClient, 'find'>;
  /** Metadata of a token Secret by `namespace/name`, from the watch of all Secrets of ServiceTokens. */
  readonly issuedSecret: (key: string) => { readonly metadata: ObjectMeta } | undefined;
  /** The same, from the watch by name. */
  readonly followedSecret: (key: string) => { readonly metadata: ObjectMeta } | undefined;
}

/** A source with its token reference. */
export interface TokenSource {
  readonly context: SourceContext;
  readonly token: SourceToken;
}

/** What a source presents. */
export interface Presented {
  readonly credential: SourceCredential;
  /** Why it has no token: DomainError or ApiError. It counts once the sources before it have been authenticated. */
  readonly error?: unknown;
  /** Whether the newest version of its Secret was read, not only the one that the watch has shown. */
  readonly isNewest: boolean;
}

const nothing: Presented = { credential: { token: undefined }, isNewest: true };

/** What the sources present, in their order. After the first one that has no token, none is read. */
export async function presentTokens(deps: TokenDeps, sources: readonly TokenSource[]): Promise<readonly Presented[]> {
  const presented: Presented[] = [];
  for (const { context, token } of sources) {
    const isOver = presented.some(({ error }) => error !== undefined);
    presented.push(isOver ? nothing : await present(deps, context, token));
  }
  return presented;
}

/**
 * Reads the newest version of a Secret whose token was refused: it may have been replaced a moment ago. Undefined if that is
 * what was presented.
 */
export async function presentAgain(
  deps: TokenDeps,
  { context, token }: TokenSource,
  presented: Presented,
  { step, error }: SourceRefusal,
): Promise<Presented | undefined> {
  const mayBeOutdated = step === 'token' && error.description.isTokenError === true && !presented.isNewest;
  if (!mayBeOutdated || presented.error !== undefined || token === 'keyless') return undefined;
  return await presentVersion(deps, context, token, undefined);
}

/** Tries the version of the Secret that the watch has shown, which is faster. */
async function present(deps: TokenDeps, context: SourceContext, token: SourceToken): Promise<Presented> {
  if (token === 'keyless') return { credential: token, isNewest: true };
  const key = objectKey(token);
  const watched = (deps.issuedSecret(key) ?? deps.followedSecret(key))?.metadata.resourceVersion;
  const presented = await presentVersion(deps, context, token, watched);
  const { error } = presented;
  const mayBeOutdated = error instanceof DomainError && watched !== undefined;
  return mayBeOutdated ? await presentVersion(deps, context, token, undefined) : presented;
}

async function presentVersion(
  deps: TokenDeps,
  { source, seen }: SourceContext,
  place: TokenPlace,
  notOlderThan: string | undefined,
): Promise<Presented> {
  const isNewest = notOlderThan === undefined;
  const key = objectKey(place);
  // The Secrets of ServiceTokens have one watch for all; any other needs one by its name.
  const isIssued = place.serviceToken !== undefined || deps.issuedSecret(key) !== undefined;
  try {
    const secret = await deps.secretsClient.find(place, notOlderThan);
    seen.renote(isIssued ? 'issued Secret' : 'Secret', key, objectVersion(secret?.metadata));
    return { credential: { token: tokenIn(secret, place, source) }, isNewest };
  } catch (error) {
    return { ...nothing, error, isNewest };
  }
}

/** Throws DomainError token_secret_not_found. */
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
