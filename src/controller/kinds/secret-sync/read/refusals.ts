import type { RefusalFault } from '../../../../domain/credential-faults.ts';
import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../../domain/plaintext.ts';
import type { SourceFault, SourceRefusal } from '../../../../domain/source-reads.ts';
import { objectKey } from '../../../../kube/client/objects.ts';
import { statusVersionOf } from '../../service-token/versions.ts';
import { notFound } from '../source-messages.ts';
import { inSource } from '../spec/source.ts';
import * as messages from '../token-messages.ts';
import { explained, isUnsettled } from '../tokens/token-errors.ts';
import type { TokenPlace } from '../tokens/token-place.ts';
import { malformationOf } from '../tokens/token-text.ts';
import type { Presented, TokenSource } from './source-tokens.ts';
import type { SourceContext } from './state.ts';

/** Errors of sources, as the status reports them, with what ends them. */

/** The sources of a SecretSync could not be read. */
export class SourceRefusedError extends Error {
  override readonly name = 'SourceRefusedError';
  /** Names the source, if it has a name. */
  readonly refusal: DomainError;
  /** Whether the error with a token is about to end or to be explained. */
  readonly isUnsettled: boolean;

  constructor(refusal: DomainError, willSettle: boolean) {
    super(refusal.detail, { cause: refusal });
    this.refusal = refusal;
    this.isUnsettled = willSettle;
  }
}

/** Why a source was refused its environment, or its token was. Throws what kept its Secret from being read. */
export function refusedAccess(source: TokenSource, presented: Presented, refusal: SourceRefusal): SourceRefusedError {
  const { context, token } = source;
  const { error, step, tokenId, environmentId } = refusal;
  if (token === 'keyless') {
    // The reinstatement of a token is reported with its id. Another environment under the same path has another token.
    if (tokenId !== undefined) context.seen.note('service token', tokenId, 'refused');
    if (environmentId !== undefined) context.seen.note('environment history', environmentId);
    return refusedSource(source, error);
  }
  if (step === 'token') return refusedSource(source, refusedToken(context, token, presented, refusal), refusal.fault);
  // One message for both: the token may not know whether the environment exists.
  const isHidden = step === 'environment' && error.code === 'not_found';
  return refusedSource(source, isHidden ? messages.notVisible(context.source, token, error) : error);
}

/** An error of a source, with its name. */
export function refusedSource(
  { context: { resource, source, seen }, token }: TokenSource,
  error: DomainError,
  fault?: SourceFault,
): SourceRefusedError {
  // A new environment may be the missing one. Without a grant no environment is searched.
  if (error.code === 'not_found' || (error.code === 'forbidden' && token !== 'keyless')) seen.note('environments', '');
  const serviceToken = token === 'keyless' ? undefined : token.serviceToken;
  const refusal = error.code === 'not_found' ? notFound(resource, error) : error;
  return new SourceRefusedError(inSource(source, refusal), isUnsettled(error, serviceToken, fault));
}

function refusedToken(
  context: SourceContext,
  place: TokenPlace,
  { credential, error: ownError }: Presented,
  refusal: SourceRefusal,
): DomainError {
  const { seen } = context;
  // The end of a suspension and the activation of a token are reported with its id.
  if (refusal.tokenId !== undefined) seen.note('service token', refusal.tokenId);
  const token = credential === 'keyless' ? undefined : credential.token;
  const error = token === undefined ? ownError : tokenError(token, place, context, refusal);
  if (!(error instanceof DomainError)) throw error;
  if (error.code === 'unauthenticated') seen.note('credentials', '');
  const { serviceToken } = place;
  if (serviceToken === undefined) return error;
  seen.note('ServiceToken status', objectKey(serviceToken.metadata), statusVersionOf(serviceToken));
  return explained(error, serviceToken);
}

/** The refusal of a token, with what to do about its Secret. */
function tokenError(
  token: Plaintext,
  place: TokenPlace,
  { resource, source }: SourceContext,
  { error, fault }: SourceRefusal,
): DomainError {
  if (error.code !== 'unauthenticated') return error;
  if (fault === 'personal') return messages.withNewToken(messages.personalToken(place), resource, source);
  const malformation = fault === 'malformed' ? malformationOf(token) : undefined;
  // A value that is no token, not even a damaged one, must look like a missing key.
  if (fault === 'malformed' && malformation === undefined) return messages.tokenMissing(place.name, place.key, source);
  const refused = messages.tokenRefused(place, malformation ?? error.detail, error);
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
