import type { Clock } from '../../../lib/clock.ts';

interface Refusal {
  /** The generation of the ClusterSecretSync whose SecretSync was not taken. */
  readonly generation: number;
  readonly untilMs: number;
}

/** The reason that the status reports of such a namespace. */
const reason = 'Refused';
// A quota or an admission policy is changed by hand.
const retryMs = 60_000;

/** Where the API server did not take a SecretSync: the namespace is left alone for a minute, or until the spec changes. */
export class Refusals {
  readonly #clock: Clock;
  /** By the key of the ClusterSecretSync and the namespace. */
  readonly #refusals = new Map<string, Map<string, Refusal>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(key: string, namespace: string, generation: number): void {
    const refusals = this.#refusals.get(key) ?? new Map<string, Refusal>();
    refusals.set(namespace, { generation, untilMs: this.#clock.now() + retryMs });
    this.#refusals.set(key, refusals);
  }

  /** Why nothing is written in a namespace at present; undefined if it may be tried. */
  reasonOf(key: string, namespace: string, generation: number): string | undefined {
    const refusal = this.#refusals.get(key)?.get(namespace);
    if (refusal === undefined) return undefined;
    if (refusal.generation === generation && refusal.untilMs > this.#clock.now()) return reason;
    this.#refusals.get(key)?.delete(namespace);
    return undefined;
  }

  /** How long it is until the first of a ClusterSecretSync's namespaces may be tried again; undefined if none is left alone. */
  untilNextTry(key: string): number | undefined {
    const times = [...(this.#refusals.get(key)?.values() ?? [])].map(({ untilMs }) => untilMs);
    if (times.length === 0) return undefined;
    return Math.max(0, times.reduce((first, time) => Math.min(first, time), Infinity) - this.#clock.now());
  }

  /** Lets every namespace of a ClusterSecretSync be tried again. */
  forget(key: string): void {
    this.#refusals.delete(key);
  }

  /** Lets a namespace be tried again: it is another one now. */
  namespaceEnded(namespace: string): void {
    for (const refusals of this.#refusals.values()) refusals.delete(namespace);
  }
}
