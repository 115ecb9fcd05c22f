import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ApiError } from '../../../kube/client/api-error.ts';
import type { NamespacedName } from '../../../kube/client/objects.ts';
import type { ServiceTokenSpec } from '../../generated/service-token.ts';
import { type SecretClaim, type SecretOwner, ownerText } from '../secret-claims/claim.ts';
import { claimedText, waitingHolder } from '../secret-claims/messages.ts';

/** Every sentence that conditions, Events and log lines about ServiceTokens contain. */

export const suspended =
  'spec.suspend is true: nothing is created, rotated or written. The token stays valid while an AccessGrant covers it. ' +
  'Delete the ServiceToken to revoke it, or set spec.suspend to false to resume.';

/** `secret` is the name of the token Secret, here and below. */
export function issued(secret: string, serial: number): string {
  return `Secret ${secret} holds value ${serial} of the token.`;
}

/** A token that has no value. */
export function federated(serviceAccountNames: readonly string[]): string {
  const isOne = serviceAccountNames.length === 1;
  const accounts = `the ServiceAccount${isOne ? '' : 's'} ${serviceAccountNames.join(', ')}`;
  return `JWTs of ${accounts} with the audience in status.audience prove the token.`;
}

export const federationExpired =
  'The token has expired. To get a new token, delete the ServiceToken and create it again. Without spec.expiresIn, the ' +
  'token does not expire.';

/** The condition Expiring and its Warning Event; `at` is a time, here and below. */
export function federationExpiring(at: string): string {
  return `The token expires at ${at}, and nothing replaces it. Increase spec.expiresIn, or remove it.`;
}

export function expired(secret: string): string {
  return (
    `The token in Secret ${secret} has expired. Delete the Secret to get a new value. ` +
    'To replace values before they expire, set spec.rotation.'
  );
}

export function expiring(secret: string, at: string): string {
  return (
    `The token in Secret ${secret} expires at ${at}, and nothing replaces it. ` +
    'Set spec.rotation, increase spec.expiresIn, or delete the Secret to get a new value.'
  );
}

export const revoked =
  'The token was revoked and stays revoked. To get a new token, delete the ServiceToken and create it again.';

export const sourceReplaced =
  'The token is for an organization, project or environment that was deleted. Another one has its slug now. ' +
  'To get a token for that one, delete the ServiceToken and create it again.';

/** The spec does not name what its scope requires. */
export function noPlace(scope: ServiceTokenSpec['scope']): DomainError {
  const field = { Organization: 'organization', Project: 'projectRef', Environment: 'environmentRef' }[scope];
  return new DomainError(
    'invalid_input',
    `spec.scope is ${scope}, but spec.${field} is not set. Delete the ServiceToken, and create it with spec.${field}.`,
  );
}

/** A token that exists and has no grant now; `detail` says what the namespace is granted. */
export function grantMissing(detail: string): string {
  return `The token is suspended and grants no access until an AccessGrant covers it again: ${detail}`;
}

/** A token that exists and that its cluster may not use now; `detail` says why. */
export function clusterRefused(detail: string): string {
  return `The token is suspended and grants no access until its cluster may use it again: ${detail}`;
}

/** The Secret exists and belongs to something else that does not write it now. None of these advises to delete it. */
export function unmanagedSecret(secret: string, owner: SecretOwner | undefined): DomainError {
  const whose =
    owner === undefined
      ? 'it was created by something else'
      : `it belongs to ${ownerText(owner)}, which no longer writes it`;
  return new DomainError(
    'target_not_owned',
    `Secret ${secret} does not belong to this ServiceToken: ${whose}. Nothing was created. ${anotherName}`,
  );
}

/** Another resource writes the Secret, or creates it again if it is missing. */
export function claimedSecret(
  { namespace, name }: NamespacedName,
  { holder, isPresent }: { readonly holder: SecretClaim; readonly isPresent: boolean },
): DomainError {
  const wayOut = isPresent ? '' : ` ${waitingHolder(namespace, holder)}`;
  return new DomainError('target_claimed', `${claimedText(name, holder)} Nothing was created. ${anotherName}${wayOut}`);
}

const anotherName = 'Create a ServiceToken with another spec.secretName instead of this one.';

/** The API server's own message is left out, because it may quote what it refused. */
export function secretRefused(secret: string, error: ApiError): DomainError {
  const by = error.refuser === undefined ? '' : `, by ${error.refuser}`;
  return new DomainError(
    'target_refused',
    `The API server refused Secret ${secret} (${error.code}${by}). Check the namespace's ResourceQuota and admission ` +
      "policies, that the namespace is not being deleted, and the controller's RBAC.",
    { cause: error },
  );
}

/** Another client changes the Secret during every write. */
export function secretUnstable(): DomainError {
  return new DomainError('conflict', 'The Secret keeps changing while the token is written to it');
}

export function grantChanged(): DomainError {
  return new DomainError('conflict', 'The AccessGrants changed during the reconcile');
}

// Log lines.

export const orphanSuspended = 'a token was suspended, because it has no ServiceToken or no AccessGrant covers it';

export const sharedName =
  'a token is live again although it was suspended because its ServiceToken is gone: another controller serves it. ' +
  'It is left alone. Two clusters on one database must have different values of KEYFRAME_CLUSTER_NAME';

export const namespacesUnlisted =
  'the controller may not list the ServiceTokens of these namespaces, so only AccessGrants decide about live tokens ' +
  'there, and a token whose ServiceToken was deleted stays live. Watch the namespaces, or revoke the tokens with ' +
  '`keyframe token revoke-service`';
