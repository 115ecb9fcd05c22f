import type { Clock } from '../../../lib/clock.ts';

interface Loss {
  readonly namespaces: Set<string>;
  readonly sinceMs: number;
}

// Longer than the pause between two changes of a person or a script that relabels many namespaces.
const settleMs = 5000;

/**
 * How long each ClusterSecretSync's lost namespaces have been the same. Namespaces lose their labels one after the other:
 * at each step few enough may be lost, and the limit would never apply to all of them together.
 */
export class Settling {
  readonly #clock: Clock;
  readonly #losses = new Map<string, Loss>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes which namespaces are lost now. Returns the time until they count as complete; 0 if they do. */
  note(key: string, lost: readonly string[]): number {
    const before = this.#losses.get(key);
    if (lost.length === 0) {
      this.#losses.delete(key);
      return 0;
    }
    const isSame = before?.namespaces.size === lost.length && lost.every((name) => before.namespaces.has(name));
    const sinceMs = isSame ? before.sinceMs : this.#clock.now();
    if (!isSame) this.#losses.set(key, { namespaces: new Set(lost), sinceMs });
    return Math.max(0, sinceMs + settleMs - this.#clock.now());
  }

  /** Notes that the SecretSync of a lost namespace was removed. The rest need not settle again. */
  removed(key: string, namespace: string): void {
    this.#losses.get(key)?.namespaces.delete(namespace);
  }

  /** Drops what is known of a ClusterSecretSync. */
  forget(key: string): void {
    this.#losses.delete(key);
  }
}
