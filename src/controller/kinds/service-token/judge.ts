import type { TokenPermission } from '../../../domain/grants.ts';
import type { MovedExpiry, ResourceCredential, ResourceToken } from '../../../domain/resources/tokens.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretClaim, SecretOwner } from '../secret-claims/claim.ts';
import type { Times } from './resource.ts';

/** Decides the next step of a reconcile from the facts that were gathered. Pure functions. */

/** The facts about the token Secret. */
export type SecretFacts =
  /** JWTs prove the token. The leftover is a Secret that a controller of an older release wrote. */
  | { readonly state: 'unwanted'; readonly leftover: ObjectMeta | undefined }
  | { readonly state: 'absent' }
  /** It belongs to something else that does not write it now. */
  | { readonly state: 'unmanaged'; readonly owner: SecretOwner | undefined }
  /** Another resource writes it, or creates it if it is missing. */
  | { readonly state: 'claimed'; readonly holder: SecretClaim; readonly isPresent: boolean }
  | {
      readonly state: 'owned';
      readonly uid: string;
      readonly resourceVersion: string;
      /** The serial of the value that it holds; undefined for anything else. */
      readonly serial: number | undefined;
      readonly metadataFits: boolean;
      /** Whether its data can be replaced. A Secret of another type or an immutable one must be deleted first. */
      readonly isReplaceable: boolean;
    };

export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly times: Times;
  readonly permission: TokenPermission;
  /** Undefined if none was minted yet, or if its organization, project or environment was purged. */
  readonly token: ResourceToken | undefined;
  /** Whether the slugs still name the organization, project and environment that the token is for. */
  readonly isSamePlace: boolean;
  readonly secret: SecretFacts;
}

export type Step =
  /** Creates the value of a serial and writes it to the Secret. */
  | { readonly do: 'mint'; readonly serial: number; readonly expiresAt: Date | null }
  /** Creates a serial that JWTs prove. */
  | { readonly do: 'federate'; readonly serial: number; readonly expiresAt: Date | null }
  /** Deletes the Secret that is not wanted. */
  | { readonly do: 'delete'; readonly leftover: ObjectMeta }
  /** Makes the value in the Secret valid. */
  | { readonly do: 'activate'; readonly serial: number }
  | { readonly do: 'revoke'; readonly serial: number }
  /** Sets the token's permission and the expiry of its values. */
  | { readonly do: 'update'; readonly expiries: readonly MovedExpiry[] }
  | { readonly do: 'resume' }
  /** Gives the Secret the metadata that it lacks. */
  | { readonly do: 'mark' }
  | Rest;

/** Nothing needs to be done now. */
export type Rest =
  | { readonly do: 'rest'; readonly because: 'unmanaged'; readonly owner: SecretOwner | undefined }
  | { readonly do: 'rest'; readonly because: 'claimed'; readonly holder: SecretClaim; readonly isPresent: boolean }
  | { readonly do: 'rest'; readonly because: 'revoked' | 'replaced' }
  | {
      readonly do: 'rest';
      readonly because: 'issued' | 'expired';
      readonly current: ResourceCredential;
      /** Whether the value expires soon and nothing will replace it. */
      readonly isExpiring: boolean;
      readonly rotatesAt: number | undefined;
      /** The previous value, while it is valid. */
      readonly previous: ResourceCredential | undefined;
      /** When the next step is due, in milliseconds since the epoch; undefined if none is planned. */
      readonly dueAt: number | undefined;
    };

// The expiry in the database comes from another clock.
const expiryToleranceMs = 5000;
// A use is recorded at most once a minute, so a later use may be unrecorded.
const usageLagMs = 61_000;

/** The next step if a grant covers the request and the organization, project and environment exist. */
export function judge(facts: Facts): Step {
  const { token, secret, isSamePlace } = facts;
  if (token !== undefined && token.revokedAt !== null) return { do: 'rest', because: 'revoked' };
  if (!isSamePlace) return { do: 'rest', because: 'replaced' };
  // A reduced permission takes effect first, whatever the state of the Secret is.
  if (token?.permission === 'read_write' && facts.permission === 'read') return { do: 'update', expiries: [] };
  if (isForeign(secret)) return leave(secret);
  if (secret.state === 'unwanted') return federated(facts, secret.leftover);
  return valued(facts);
}

type ForeignSecret = Extract<SecretFacts, { state: 'unmanaged' | 'claimed' }>;

function isForeign(secret: SecretFacts): secret is ForeignSecret {
  return secret.state === 'unmanaged' || secret.state === 'claimed';
}

/** A Secret of something else is left alone, and no value is created. */
function leave(secret: ForeignSecret): Rest {
  if (secret.state === 'unmanaged') return { do: 'rest', because: 'unmanaged', owner: secret.owner };
  const { holder, isPresent } = secret;
  return { do: 'rest', because: 'claimed', holder, isPresent };
}

/** A suspended token resumes before a value is created for it, but after every value that must go is revoked. */
function resumed({ suspendedAt }: ResourceToken, step: Step): Step {
  return suspendedAt === null || step.do === 'revoke' ? step : { do: 'resume' };
}

/** Changes the permission and the expiry of the newest value to those of the spec. */
function adjust({ permission, times, now }: Facts, token: ResourceToken): Step | undefined {
  const live = token.credentials.filter(({ revokedAt }) => revokedAt === null);
  const newest = live.at(-1);
  // An expired value stays expired, even if spec.expiresIn is increased.
  const moved = newest === undefined || hasEnded(newest, now) ? [] : movedExpiry(newest, times);
  const isOff = token.permission !== permission || moved.length > 0;
  return isOff ? { do: 'update', expiries: moved } : undefined;
}

function hasEnded({ expiresAt }: ResourceCredential, now: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= now;
}

function movedExpiry({ serial, createdAt, expiresAt }: ResourceCredential, { lifeMs }: Times): readonly MovedExpiry[] {
  if (lifeMs === undefined) return expiresAt === null ? [] : [{ serial, expiresAt: null }];
  const wanted = createdAt.getTime() + lifeMs;
  const differs = expiresAt === null || Math.abs(expiresAt.getTime() - wanted) > expiryToleranceMs;
  return differs ? [{ serial, expiresAt: new Date(wanted) }] : [];
}

/** The step for the value in the Secret, and for values that are not in it. */
function value(facts: Facts, token: ResourceToken): Step {
  const { secret } = facts;
  const live = token.credentials.filter(({ revokedAt }) => revokedAt === null);
  const held = secret.state === 'owned' ? secret.serial : undefined;
  const current = live.find(({ serial }) => serial === held);
  // A value that was removed from the Secret may be in the wrong hands.
  const lost = live.find(({ serial, state }) => state === 'active' && serial > (current?.serial ?? 0));
  if (lost !== undefined) return { do: 'revoke', serial: lost.serial };
  // This value was never written to the Secret, so nothing uses it. The next value takes its serial.
  const unsent = live.find((credential) => credential.state === 'pending' && credential !== current);
  const next = unsent?.serial ?? (token.credentials.at(-1)?.serial ?? 0) + 1;
  if (current === undefined) return mint(facts, next);
  if (current.state === 'pending') return { do: 'activate', serial: current.serial };
  return renew(facts, current, next) ?? settle(facts, live, current);
}

/** The step for a token that has a value. */
function valued(facts: Facts): Step {
  const { token } = facts;
  if (token === undefined) return mint(facts, 1);
  return adjust(facts, token) ?? resumed(token, value(facts, token));
}

/** The step for a token that has no value. What has one was created by a controller of an older release. */
function federated(facts: Facts, leftover: ObjectMeta | undefined): Step {
  const { token } = facts;
  if (token === undefined) return federate(facts, 1);
  const live = token.credentials.filter(({ revokedAt }) => revokedAt === null);
  const current = live.findLast(({ audience }) => audience !== null);
  const other = live.find((credential) => credential !== current);
  if (other !== undefined) return { do: 'revoke', serial: other.serial };
  const changed = adjust(facts, token);
  if (changed !== undefined) return changed;
  if (current === undefined) return resumed(token, federate(facts, (token.credentials.at(-1)?.serial ?? 0) + 1));
  if (leftover !== undefined) return { do: 'delete', leftover };
  return resumed(token, settle(facts, live, current));
}

/** The step for a valid value before it can rest. */
function renew(facts: Facts, current: ResourceCredential, next: number): Step | undefined {
  const { secret, now } = facts;
  if (secret.state === 'owned' && !secret.metadataFits) return { do: 'mark' };
  const rotatesAt = rotationTime(facts, current);
  return rotatesAt !== undefined && rotatesAt <= now ? mint(facts, next) : undefined;
}

function settle(facts: Facts, live: readonly ResourceCredential[], current: ResourceCredential): Step {
  const { now } = facts;
  const rotatesAt = rotationTime(facts, current);
  // A later value was never written to the Secret and is not needed now.
  const unsent = live.find(({ serial }) => serial > current.serial);
  if (unsent !== undefined) return { do: 'revoke', serial: unsent.serial };
  const before = live.filter(({ serial }) => serial < current.serial);
  const ends = before.map((credential) => ({ credential, at: overlapEnd(facts, current, credential) }));
  const over = ends.find(({ at }) => at <= now);
  if (over !== undefined) return { do: 'revoke', serial: over.credential.serial };
  const expiresAt = current.expiresAt?.getTime();
  const warnsAt = rotatesAt === undefined ? warningTime(current) : undefined;
  const due = [rotatesAt, expiresAt, warnsAt, ...ends.map(({ at }) => at)];
  return {
    do: 'rest',
    because: hasEnded(current, now) ? 'expired' : 'issued',
    current,
    isExpiring: warnsAt !== undefined && warnsAt <= now,
    rotatesAt,
    previous: before.at(-1),
    dueAt: earliest(due.filter((at) => at !== undefined && at > now)),
  };
}

function mint(facts: Facts, serial: number): Step {
  return { do: 'mint', serial, expiresAt: endOf(facts) };
}

function federate(facts: Facts, serial: number): Step {
  return { do: 'federate', serial, expiresAt: endOf(facts) };
}

/** When what is created now expires. */
function endOf({ now, times: { lifeMs } }: Facts): Date | null {
  return lifeMs === undefined ? null : new Date(now + lifeMs);
}

/** When the next value replaces a value: at its expiry at the latest. */
function rotationTime({ times: { rotation } }: Facts, current: ResourceCredential): number | undefined {
  if (rotation === undefined) return undefined;
  return Math.min(current.createdAt.getTime() + rotation.intervalMs, current.expiresAt?.getTime() ?? Infinity);
}

/** When a quarter of a value's lifetime is left. */
function warningTime({ createdAt, expiresAt }: ResourceCredential): number | undefined {
  if (expiresAt === null) return undefined;
  const end = expiresAt.getTime();
  return end - (end - createdAt.getTime()) / 4;
}

/** When a previous value must be revoked: at once, if no rotation allows an overlap. */
function overlapEnd({ times: { rotation } }: Facts, current: ResourceCredential, before: ResourceCredential): number {
  const replacedAt = current.createdAt.getTime();
  if (rotation === undefined || before.state === 'pending') return replacedAt;
  const lastUse = before.lastUsedAt === null ? replacedAt : before.lastUsedAt.getTime() + usageLagMs;
  return Math.min(Math.max(lastUse, replacedAt) + rotation.overlapMs, replacedAt + rotation.maxOverlapMs);
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
