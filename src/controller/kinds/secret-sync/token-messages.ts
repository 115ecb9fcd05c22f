import type { ErrorCode } from '../../../domain/errors/catalogue.ts';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { targetOf } from './spec/resource.ts';
import { environmentPath } from '../../environment-ref.ts';
import { type Source, fieldOf } from './spec/source.ts';

/** Every sentence about the tokens of a SecretSync's sources. They name Secrets and keys, never tokens. */

/** The Secret and the key that hold a token. */
interface TokenKey {
  readonly name: string;
  readonly key: string;
}

/** `reason` is a sentence of the authentication, or of those below. */
export function tokenRefused({ name, key }: TokenKey, reason: string, cause: DomainError): DomainError {
  return new DomainError('unauthenticated', `The token in Secret ${name}, key ${key}, was refused: ${reason}`, {
    cause,
  });
}

export function personalToken({ name, key }: TokenKey): DomainError {
  return new DomainError('unauthenticated', `The key ${key} of Secret ${name} holds a personal token`);
}

/** An error with a token, and the command that creates another one for the source. */
export function withNewToken({ code, detail, cause }: DomainError, sync: SecretSync, source: Source): DomainError {
  const { organization, project, name } = source.environmentRef;
  const { namespace = '' } = sync.metadata;
  return new DomainError(
    code,
    `${detail}. Put a new service token there, such as that of ` +
      `\`keyframe token create-service -o ${organization} -n ${namespace} -s environment --project ${project} --env ${name} -p read\`.`,
    { cause },
  );
}

// Why a text in a Secret is no token, although it contains one.

export const tokenCut = 'it is malformed: characters are missing or mistyped';

export const tokenSurrounded = 'it is malformed: there is other text around the token, such as quotes or a second line';

export const tokenEncodedTwice =
  'it is malformed: it is base64 of a token. Kubernetes encodes what is below stringData, and below data it must be encoded once';

export const tokenInUtf16 = 'it is malformed: it is encoded as UTF-16, and must be UTF-8';

export const sessionInstead =
  'it belongs to a session or a cluster, or is a sign-in link, and must be a service token (kf_svc_…)';

/** A token does not see an environment. The message does not say whether the environment exists. */
export function notVisible(source: Source, { name, key, serviceToken }: TokenOwner, cause: DomainError): DomainError {
  const path = environmentPath(source);
  const field = fieldOf(source, 'environmentRef');
  const advice =
    serviceToken === undefined
      ? `Check ${field}, and the scope of the token with \`keyframe token list-service -o ${source.environmentRef.organization}\``
      : `Check ${field} and the scope of the ServiceToken`;
  const whose =
    serviceToken === undefined
      ? `the token in Secret ${name}, key ${key},`
      : `the token of ServiceToken ${serviceToken.metadata.name}`;
  return new DomainError(
    'not_found',
    `environment ${path} does not exist or was deleted, or ${whose} is for another place. ${advice}`,
    { cause },
  );
}

interface TokenOwner extends TokenKey {
  readonly serviceToken: ServiceToken | undefined;
}

/**
 * One message for a Secret that does not exist, lacks the key, or holds something else there: users who may not read
 * Secrets must not learn which of these it is.
 */
export function tokenMissing(name: string, key: string, { name: source, tokenRef }: Source): DomainError {
  const field = fieldOf({ name: source }, 'tokenSecretRef');
  const advice =
    tokenRef === undefined
      ? `Put a service token there, or name another Secret and key in ${field}.`
      : `ServiceToken ${tokenRef.name} must write it.`;
  return new DomainError(
    'token_secret_not_found',
    `Secret ${name} does not exist in this namespace, or has no token in the key ${key}. ${advice}`,
  );
}

/** A Secret that another owner wrote never counts as the ServiceToken's. */
export function tokenSecretUnmanaged(secretName: string, serviceToken: string): DomainError {
  return new DomainError(
    'token_secret_not_found',
    `Secret ${secretName} was not written by ServiceToken ${serviceToken}`,
  );
}

export function serviceTokenMissing(source: Source): DomainError {
  return new DomainError(
    'service_token_not_found',
    `ServiceToken ${source.tokenRef?.name} does not exist in this namespace. The Secret is unchanged. ` +
      `Create it, or name another one in ${fieldOf(source, 'tokenRef')}.`,
  );
}

export function serviceTokenDeleted(name: string, source: Source): DomainError {
  return new DomainError(
    'service_token_not_ready',
    `ServiceToken ${name} is being deleted. The Secret is unchanged. ` +
      `Create it again once it is gone, or name another one in ${fieldOf(source, 'tokenRef')}.`,
  );
}

/** The token has no value with which a SecretSync could read. */
export function serviceTokenFederated(name: string, source: Source): DomainError {
  const field = fieldOf(source, 'tokenRef');
  return new DomainError(
    'invalid_input',
    `ServiceToken ${name} has serviceAccountNames, so it has no value to read with. Remove ${field} to read with the ` +
      'keyless service token of the namespace, or name a ServiceToken without serviceAccountNames.',
  );
}

/** The SecretSync would write the Secret that holds its token. */
export function tokenSecretIsTarget(sync: SecretSync, serviceToken: string): DomainError {
  return new DomainError(
    'invalid_input',
    `Secret ${targetOf(sync).name} holds the token of ServiceToken ${serviceToken} and must not be overwritten. ` +
      'Create a SecretSync with another spec.target.name, or use a ServiceToken with another spec.secretName.',
  );
}

export function serviceTokenPending(name: string): DomainError {
  return new DomainError(
    'service_token_not_ready',
    `ServiceToken ${name} has not written a token to its Secret yet. The SecretSync continues as soon as it has.`,
  );
}

const maxMessageLength = 4096;
const maxReasonLength = 64;

/** `reason` and `message` are those of the ServiceToken's condition Ready. */
export function serviceTokenUnready(
  name: string,
  code: ErrorCode,
  { reason, message }: { readonly reason: string; readonly message: string },
): DomainError {
  // A status is untrusted input: with the longest possible message, this one would be too long.
  const text = message.length <= maxMessageLength ? message : `${message.slice(0, maxMessageLength)}…`;
  return new DomainError(code, `ServiceToken ${name} is not ready (${reason.slice(0, maxReasonLength)}): ${text}`);
}
