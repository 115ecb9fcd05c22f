import type { Progress, ReadyClaim } from './conditions.ts';
import type { Resource } from './resource.ts';

/** How long a resource may be in progress before it counts as Stalled. */

/** Others supply what is missing, often in the same `kubectl apply`. */
const waitLimitMs = 30_000;
/** The controller retries or works. A failover of the database or the API server takes less. */
const workLimitMs = 5 * 60_000;

const limits: Readonly<Partial<Record<Progress, number>>> = { waiting: waitLimitMs, reconciling: workLimitMs };

/** A claim to report, and when it changes without an event. */
export interface TimedClaim {
  readonly claim: ReadyClaim;
  /** The time until the claim becomes Stalled, in milliseconds; undefined if it does not. */
  readonly leftMs?: number;
}

/** The claim after it has been in progress for `elapsedMs`. Nothing stays in progress for ever. */
export function timedClaim(claim: ReadyClaim, elapsedMs: number): TimedClaim {
  const limitMs = limits[claim.progress];
  if (limitMs === undefined) return { claim };
  const leftMs = limitMs - elapsedMs;
  return leftMs > 0 ? { claim, leftMs } : { claim: { ...claim, progress: 'stalled' } };
}

/** One time in progress. It ends when the resource is ready, suspended, or stalled by its own claim. */
interface Spell {
  readonly sinceMs: number;
  readonly generation: number | undefined;
  readonly advance: string | undefined;
}

/** Since when each resource is in progress. */
export class Patience {
  readonly #spells = new Map<string, Spell>();

  /** Notes a new claim of a resource. */
  observe(key: string, resource: Resource, claim: ReadyClaim, nowMs: number): void {
    const limitMs = limits[claim.progress];
    if (limitMs === undefined) {
      this.#spells.delete(key);
      return;
    }
    const { generation } = resource.metadata;
    const { advance } = claim;
    const before = this.#spells.get(key);
    if (before?.generation === generation && before?.advance === advance) return;
    // A new leader continues where the former one stopped.
    const wasStalled = before === undefined && isStalledFor(resource, claim.reason);
    this.#spells.set(key, { sinceMs: wasStalled ? nowMs - limitMs : nowMs, generation, advance });
  }

  /** The claim of a resource at this time. */
  timed(key: string, claim: ReadyClaim, nowMs: number): TimedClaim {
    return timedClaim(claim, nowMs - (this.#spells.get(key)?.sinceMs ?? nowMs));
  }

  forget(key: string): void {
    this.#spells.delete(key);
  }

  clear(): void {
    this.#spells.clear();
  }
}

/** Whether the status reports that the resource is stalled for this reason. */
function isStalledFor({ status }: Resource, reason: string): boolean {
  const isStalled = status?.conditions?.some(({ type, status: now }) => type === 'Stalled' && now === 'True');
  return isStalled === true && status?.conditions?.find(({ type }) => type === 'Ready')?.reason === reason;
}
