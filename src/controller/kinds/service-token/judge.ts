import type { ResourceCredential, ResourceToken } from '../../../services/managed/tokens.ts';
import type { TokenPermission } from '../../../domain/principal.ts';
import type { Times } from './resource.ts';

/** What the next step towards a ServiceToken is. Pure: what it looks at was gathered before. */

/** The token Secret, as far as the judgement looks at it. */
export type SecretFacts =
  | { readonly state: 'absent' }
  | { readonly state: 'unmanaged'; readonly owner: string | undefined }
  | {
      readonly state: 'owned';
      readonly uid: string;
      readonly resourceVersion: string;
      /** Which serial's value it holds; undefined for anything else. */
      readonly serial: number | undefined;
      readonly metadataFits: boolean;
      /** Whether the API server lets its data be replaced: a Secret of another type or an immutable one has to go first. */
      readonly isReplaceable: boolean;
    };

export interface Facts {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly times: Times;
  readonly permission: TokenPermission;
  /** Undefined where none was minted yet, or what it was for was purged. */
  readonly token: ResourceToken | undefined;
  /** Whether the token is, or was before a purge, for the very organization, project and environment that the slugs stand for now. */
  readonly isSamePlace: boolean;
  readonly secret: SecretFacts;
}

export type Step =
  /** Makes the value of a serial and puts it into the Secret. */
  | { readonly do: 'mint'; readonly serial: number; readonly expiresAt: Date | null }
  /** Lets the value that the Secret holds open something. */
  | { readonly do: 'activate'; readonly serial: number }
  | { readonly do: 'revoke'; readonly serial: number }
  /** Sets the token's permission and the ends of its values. */
  | { readonly do: 'update'; readonly expiries: readonly { serial: number; expiresAt: Date | null }[] }
  | { readonly do: 'resume' }
  /** Gives the Secret the metadata that it lacks. */
  | { readonly do: 'mark' }
  | Rest;

/** Nothing is to be done now. */
export type Rest =
  | { readonly do: 'rest'; readonly because: 'unmanaged'; readonly owner: string | undefined }
  | { readonly do: 'rest'; readonly because: 'revoked' | 'replaced' }
  | {
      readonly do: 'rest';
      readonly because: 'issued' | 'expired';
      readonly current: ResourceCredential;
      /** Whether the end is near and nothing will take the value's place. */
      readonly isExpiring: boolean;
      readonly rotatesAt: number | undefined;
      /** The value before, while it still works. */
      readonly previous: ResourceCredential | undefined;
      /** When something is due although nothing happens; milliseconds since the epoch. */
      readonly dueAt: number | undefined;
    };

// What the database keeps of a value's end may differ by the two clocks.
const expiryToleranceMs = 5000;
// A use is noted at most once a minute, so one may have followed unnoted.
const usageLagMs = 61_000;

/** The next step where a grant covers what is asked for and the place is there. */
export function judge(facts: Facts): Step {
  const { token, secret, isSamePlace } = facts;
  if (token !== undefined && token.revokedAt !== null) return { do: 'rest', because: 'revoked' };
  if (!isSamePlace) return { do: 'rest', because: 'replaced' };
  // A smaller permission holds at once, whatever has become of the Secret.
  if (token?.permission === 'read_write' && facts.permission === 'read') return { do: 'update', expiries: [] };
  if (secret.state === 'unmanaged') return { do: 'rest', because: 'unmanaged', owner: secret.owner };
  if (token === undefined) return mint(facts, 1);
  return adjust(facts, token) ?? resumed(token, value(facts, token));
}

/** A suspended token resumes before anything is made for it, but only when every value that has to go is revoked. */
function resumed({ suspendedAt }: ResourceToken, step: Step): Step {
  return suspendedAt === null || step.do === 'revoke' ? step : { do: 'resume' };
}

/** Changes the permission and the ends of the values to what the spec says. */
function adjust({ permission, times, now }: Facts, token: ResourceToken): Step | undefined {
  const live = token.credentials.filter(({ revokedAt }) => revokedAt === null);
  const newest = live.at(-1);
  // An end that has come stays: a longer life does not bring a value back.
  const moved = newest === undefined || hasEnded(newest, now) ? [] : movedExpiry(newest, times);
  const isOff = token.permission !== permission || moved.length > 0;
  return isOff ? { do: 'update', expiries: moved } : undefined;
}

function hasEnded({ expiresAt }: ResourceCredential, now: number): boolean {
  return expiresAt !== null && expiresAt.getTime() <= now;
}

function movedExpiry({ serial, createdAt, expiresAt }: ResourceCredential, { lifeMs }: Times): MovedExpiries {
  if (lifeMs === undefined) return expiresAt === null ? [] : [{ serial, expiresAt: null }];
  const wanted = createdAt.getTime() + lifeMs;
  const differs = expiresAt === null || Math.abs(expiresAt.getTime() - wanted) > expiryToleranceMs;
  return differs ? [{ serial, expiresAt: new Date(wanted) }] : [];
}

type MovedExpiries = readonly { serial: number; expiresAt: Date | null }[];

/** What the value in the Secret, and those that are not there, ask for. */
function value(facts: Facts, token: ResourceToken): Step {
  const { secret } = facts;
  const live = token.credentials.filter(({ revokedAt }) => revokedAt === null);
  const held = secret.state === 'owned' ? secret.serial : undefined;
  const current = live.find(({ serial }) => serial === held);
  // What the Secret held once and holds no longer may be in anybody's hands.
  const lost = live.find(({ serial, state }) => state === 'active' && serial > (current?.serial ?? 0));
  if (lost !== undefined) return { do: 'revoke', serial: lost.serial };
  // Its value never got into the Secret, so nobody has it: the next one takes its place under the same serial.
  const unsent = live.find((credential) => credential.state === 'pending' && credential !== current);
  const next = unsent?.serial ?? (token.credentials.at(-1)?.serial ?? 0) + 1;
  if (current === undefined) return mint(facts, next);
  if (current.state === 'pending') return { do: 'activate', serial: current.serial };
  return renew(facts, current, next) ?? settle(facts, live, current);
}

/** What a value that works asks for beside its rest. */
function renew(facts: Facts, current: ResourceCredential, next: number): Step | undefined {
  const { secret, now } = facts;
  if (secret.state === 'owned' && !secret.metadataFits) return { do: 'mark' };
  const rotatesAt = rotationTime(facts, current);
  return rotatesAt !== undefined && rotatesAt <= now ? mint(facts, next) : undefined;
}

function settle(facts: Facts, live: readonly ResourceCredential[], current: ResourceCredential): Step {
  const { now } = facts;
  const rotatesAt = rotationTime(facts, current);
  // A later one never got into the Secret, and is not needed now.
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

function mint({ now, times: { lifeMs } }: Facts, serial: number): Step {
  return { do: 'mint', serial, expiresAt: lifeMs === undefined ? null : new Date(now + lifeMs) };
}

/** When the next value takes the place of a value: at the latest when that ends. */
function rotationTime({ times: { rotation } }: Facts, current: ResourceCredential): number | undefined {
  if (rotation === undefined) return undefined;
  return Math.min(current.createdAt.getTime() + rotation.intervalMs, current.expiresAt?.getTime() ?? Infinity);
}

/** A quarter of a value's life before its end. */
function warningTime({ createdAt, expiresAt }: ResourceCredential): number | undefined {
  if (expiresAt === null) return undefined;
  const end = expiresAt.getTime();
  return end - (end - createdAt.getTime()) / 4;
}

/** When a value before is to be revoked; at once where nothing says that it may overlap. */
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
