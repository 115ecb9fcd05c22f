import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { ErrorCode } from '../../../../domain/errors/catalogue.ts';
import { AuthenticationRefusal } from '../../../../services/access/authentication.ts';
import type { Condition } from '../../../frame/conditions.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import { secretOf } from '../../service-token/resource.ts';
import { targetOf } from '../spec/resource.ts';
import { type Source, fieldOf } from '../spec/source.ts';

/** Why a source of a SecretSync has no token from a ServiceToken: each says what to do. */

/** There is none of the name in tokenRef. */
export function missing(source: Source): DomainError {
  return new DomainError(
    'service_token_not_found',
    `There is no ServiceToken ${source.tokenRef?.name} in this namespace: make it, or name another in ${fieldOf(source, 'tokenRef')}. The Secret stays as it was.`,
  );
}

/** It is being deleted. */
export function leaving({ metadata: { name } }: ServiceToken, source: Source): DomainError {
  return new DomainError(
    'service_token_not_ready',
    `ServiceToken ${name} is being deleted; create it again when it is gone, or name another in ${fieldOf(source, 'tokenRef')}. The Secret stays as it was.`,
  );
}

/** The token's Secret is the very one that would be written. */
export function sameSecret(sync: SecretSync, { metadata: { name } }: ServiceToken): DomainError {
  return new DomainError(
    'invalid_input',
    `Secret ${targetOf(sync).name} is where ServiceToken ${name} keeps its token, so it must not be written: ` +
      'make a SecretSync with another spec.target.name, or name a ServiceToken with another spec.secretName',
  );
}

/** It has not put a token that works into its Secret; `because` is its own word, where it has said so. */
function unready(name: string, because: Condition | undefined): DomainError {
  if (because === undefined) {
    return new DomainError(
      'service_token_not_ready',
      `ServiceToken ${name} has not put a token into its Secret yet; it is waited for.`,
    );
  }
  const { reason, message } = because;
  // Who may write a status can write anything into it: with a message as long as one may be, ours would be too long.
  const told = message.length <= longestMessage ? message : `${message.slice(0, longestMessage)}…`;
  return new DomainError(
    causes.get(reason) ?? 'service_token_not_ready',
    `ServiceToken ${name} is not ready (${reason.slice(0, longestReason)}): ${told}`,
  );
}

// What the SecretSync reports as its own reason, by the reason of the ServiceToken.
const causes: ReadonlyMap<string, ErrorCode> = new Map([
  ['AccessDenied', 'service_token_denied'],
  ['NotFound', 'service_token_place_not_found'],
  ['Revoked', 'service_token_revoked'],
]);

const longestMessage = 4096;
const longestReason = 64;

/** Why a token could not be had, in the words of the ServiceToken that is to give it, where that says more. */
export function explained(error: DomainError, serviceToken: ServiceToken): DomainError {
  if (error.description.isTokenError !== true) return error;
  const { metadata, status } = serviceToken;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isTold = ready !== undefined && ready.observedGeneration === metadata.generation;
  if (isTold && ready.status !== 'True') return unready(metadata.name, ready);
  return isTold ? error : unready(metadata.name, undefined);
}

/**
 * Whether trouble with a token is about to end or to be explained: its value was put into the Secret and is not active
 * yet, or the ServiceToken still says that all is well.
 */
export function isUnsettled({ description, cause }: DomainError, serviceToken: ServiceToken | undefined): boolean {
  const isPending = cause instanceof AuthenticationRefusal && cause.fault === 'pending';
  return description.isTokenError === true && (isPending || serviceToken !== undefined);
}

/** The Secret is not the one that the ServiceToken wrote. */
export function notTheTokens(serviceToken: ServiceToken): DomainError {
  const { metadata } = serviceToken;
  return new DomainError(
    'token_secret_not_found',
    `Secret ${secretOf(serviceToken).name} is not the one of ServiceToken ${metadata.name}`,
  );
}
