import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ResourceToken } from '../../../services/managed/tokens.ts';
import { type ConditionClaim, kubeTime } from '../../frame/conditions.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { type Outcome, type StatusFields, failureOutcome } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { Rest } from './judge.ts';
import { secretOf } from './resource.ts';

type Settled = Extract<Rest, { because: 'issued' | 'expired' }>;

/** What a reconcile that has nothing left to do tells. Pure. */
export function restOutcome(
  resource: ServiceToken,
  rest: Rest,
  { token, now }: { readonly token: ResourceToken | undefined; readonly now: number },
): Outcome<ServiceToken> {
  switch (rest.because) {
    case 'unmanaged':
      return failureOutcome(unmanagedSecret(resource, rest.owner), { secretName: undefined });
    case 'revoked': {
      const message = 'The token was revoked for good. Delete the ServiceToken and create it anew to get another one.';
      return { claim: { progress: 'stalled', reason: 'Revoked', message }, fields: noValue(token) };
    }
    case 'replaced': {
      const message =
        'The token is for an organization, project or environment that was deleted; another one has its slug now. Delete the ServiceToken and create it anew to get a token for that one.';
      return { claim: { progress: 'stalled', reason: 'SourceReplaced', message }, fields: noValue(token) };
    }
    default:
      return settledOutcome(resource, rest, { token, now });
  }
}

function settledOutcome(
  resource: ServiceToken,
  rest: Settled,
  { token, now }: { readonly token: ResourceToken | undefined; readonly now: number },
): Outcome<ServiceToken> {
  const { current, rotatesAt, previous, dueAt, because } = rest;
  const secret = secretOf(resource).name;
  const { expiresAt } = current;
  const fields: StatusFields<ServiceToken> = {
    tokenId: token?.tokenId,
    serial: current.serial,
    secretName: secret,
    issuedAt: kubeTime(current.createdAt.getTime()),
    expiresAt: expiresAt === null ? undefined : kubeTime(expiresAt.getTime()),
    rotatesAt: rotatesAt === undefined ? undefined : kubeTime(rotatesAt),
    previousSerial: previous?.serial,
  };
  const conditions = [expiringClaim(resource, rest)];
  // A moment later than due, so that it has come by either clock.
  const next: Next = dueAt === undefined ? { kind: 'done' } : { kind: 'after', delayMs: Math.max(dueAt - now, 0) + 50 };
  if (because === 'expired') {
    const message = `The token in Secret ${secret} has ended. Delete the Secret to get the next value, or set spec.rotation, so that values are replaced before they end.`;
    return { claim: { progress: 'stalled', reason: 'Expired', message }, fields, conditions, next };
  }
  const message = `Secret ${secret} holds value ${current.serial} of the token.`;
  return { claim: { progress: 'done', reason: 'Issued', message }, fields, conditions, next };
}

/** The condition Expiring. */
function expiringClaim(resource: ServiceToken, { isExpiring, current, rotatesAt }: Settled): ConditionClaim {
  const type = 'Expiring';
  if (isExpiring) return { type, status: 'True', reason: 'EndsSoon', message: expiryWarning(resource, current) };
  if (current.expiresAt === null) return { type, status: 'False', reason: 'NoEnd', message: '' };
  return { type, status: 'False', reason: rotatesAt === undefined ? 'EndsLater' : 'Rotated', message: '' };
}

/** What the condition Expiring, and its Warning Event, say. */
export function expiryWarning(resource: ServiceToken, { expiresAt }: Settled['current']): string {
  const at = expiresAt === null ? 'never' : kubeTime(expiresAt.getTime());
  return `The token in Secret ${secretOf(resource).name} ends at ${at}, and nothing replaces it. Set spec.rotation, delete the Secret to get the next value, or make spec.expiresIn longer.`;
}

/** A refused grant: with a token that was made under one, it opens nothing until the grant is back. */
export function deniedOutcome(error: DomainError, token: ResourceToken | undefined): Outcome<ServiceToken> {
  if (token === undefined) return failureOutcome(error);
  return failureOutcome(new DomainError('forbidden', deniedText(error), { cause: error }));
}

/** What is said of a token that was made under a grant and has none now. */
export function deniedText({ detail }: DomainError): string {
  return `The token is suspended and opens nothing until a grant covers it again: ${detail}`;
}

function noValue(token: ResourceToken | undefined): StatusFields<ServiceToken> {
  const gone = { issuedAt: undefined, expiresAt: undefined, rotatesAt: undefined, previousSerial: undefined };
  return { tokenId: token?.tokenId, serial: undefined, ...gone };
}

function unmanagedSecret(resource: ServiceToken, owner: string | undefined): DomainError {
  const { name } = secretOf(resource);
  const whose = owner === undefined ? 'something else made it' : `it belongs to ${owner}`;
  return new DomainError(
    'target_not_owned',
    `Secret ${name} is not this ServiceToken's: ${whose}. Delete that Secret, or make a ServiceToken with another spec.secretName. Nothing was made.`,
  );
}
