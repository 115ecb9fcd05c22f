import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ResourceToken } from '../../../domain/resources/tokens.ts';
import { type ConditionClaim, kubeTime } from '../../frame/conditions.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import { type Outcome, type StatusFields, failureOutcome } from '../../frame/outcome.ts';
import type { Next } from '../../frame/work-queue.ts';
import type { Rest } from './judge.ts';
import * as messages from './messages.ts';
import { secretOf } from './resource.ts';

type Settled = Extract<Rest, { because: 'issued' | 'expired' }>;

/** The outcome of a reconcile that has no step left. Pure. */
export function restOutcome(
  resource: ServiceToken,
  rest: Rest,
  { token, now }: { readonly token: ResourceToken | undefined; readonly now: number },
): Outcome<ServiceToken> {
  switch (rest.because) {
    case 'unmanaged':
      return failureOutcome(messages.unmanagedSecret(secretOf(resource).name, rest.owner), { secretName: undefined });
    case 'claimed':
      // A Secret that belongs to another resource is no longer that of this one.
      return failureOutcome(
        messages.claimedSecret(secretOf(resource), rest),
        rest.isPresent ? { secretName: undefined } : {},
      );
    case 'revoked': {
      const claim = { progress: 'stalled', reason: 'Revoked', message: messages.revoked } as const;
      return { claim, fields: noValue(token) };
    }
    case 'replaced': {
      const claim = { progress: 'stalled', reason: 'SourceReplaced', message: messages.sourceReplaced } as const;
      return { claim, fields: noValue(token) };
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
  const { expiresAt } = current;
  const fields: StatusFields<ServiceToken> = {
    tokenId: token?.tokenId,
    ...presentationOf(resource, current),
    issuedAt: kubeTime(current.createdAt.getTime()),
    expiresAt: expiresAt === null ? undefined : kubeTime(expiresAt.getTime()),
    rotatesAt: rotatesAt === undefined ? undefined : kubeTime(rotatesAt),
    previousSerial: previous?.serial,
  };
  const conditions = [expiringClaim(resource, rest)];
  // A moment later than due, because the database's clock is known to within its round trip.
  const next: Next = dueAt === undefined ? { kind: 'done' } : { kind: 'after', delayMs: Math.max(dueAt - now, 0) + 50 };
  if (because === 'expired') {
    const message = current.audience === null ? messages.expired(secretOf(resource).name) : messages.federationExpired;
    return { claim: { progress: 'stalled', reason: 'Expired', message }, fields, conditions, next };
  }
  const message = issuedText(resource, current);
  return { claim: { progress: 'done', reason: 'Issued', message }, fields, conditions, next };
}

/** What the token is presented with: the value in the Secret, or JWTs. */
function presentationOf(
  resource: ServiceToken,
  { serial, audience }: Settled['current'],
): Pick<StatusFields<ServiceToken>, 'audience' | 'serial' | 'secretName'> {
  if (audience !== null) return { audience, serial: undefined, secretName: undefined };
  return { audience: undefined, serial, secretName: secretOf(resource).name };
}

function issuedText(resource: ServiceToken, { serial, audience }: Settled['current']): string {
  const { serviceAccountNames = [] } = resource.spec;
  return audience === null ? messages.issued(secretOf(resource).name, serial) : messages.federated(serviceAccountNames);
}

/** The condition Expiring. */
function expiringClaim(resource: ServiceToken, { isExpiring, current, rotatesAt }: Settled): ConditionClaim {
  const type = 'Expiring';
  if (isExpiring) return { type, status: 'True', reason: 'EndsSoon', message: expiryWarning(resource, current) };
  if (current.expiresAt === null) return { type, status: 'False', reason: 'NoEnd', message: '' };
  return { type, status: 'False', reason: rotatesAt === undefined ? 'EndsLater' : 'Rotated', message: '' };
}

/** The message of the condition Expiring and of its Warning Event. */
export function expiryWarning(resource: ServiceToken, { expiresAt, audience }: Settled['current']): string {
  const at = expiresAt === null ? 'never' : kubeTime(expiresAt.getTime());
  return audience !== null ? messages.federationExpiring(at) : messages.expiring(secretOf(resource).name, at);
}

/** No grant covers the request. A token that was created under a grant is suspended until a grant covers it again. */
export function deniedOutcome(error: DomainError, token: ResourceToken | undefined): Outcome<ServiceToken> {
  if (token === undefined) return failureOutcome(error);
  return failureOutcome(new DomainError('forbidden', deniedText(error), { cause: error }));
}

/** The message for a token that was created under a grant and has none now. */
export function deniedText({ detail }: DomainError): string {
  return messages.grantMissing(detail);
}

function noValue(token: ResourceToken | undefined): StatusFields<ServiceToken> {
  const gone = {
    audience: undefined,
    issuedAt: undefined,
    expiresAt: undefined,
    rotatesAt: undefined,
    previousSerial: undefined,
  };
  return { tokenId: token?.tokenId, serial: undefined, ...gone };
}
