import type { Clock } from '../../../lib/clock.ts';

interface Refusal {
  /** The generation of the ClusterSecretSync whose SecretSync was refused. */
  readonly generation: number;
  readonly untilMs: number;
}

/** The reason that the status reports of such a namespace. */
const reason = 'Refused';
// Users change quotas and admission policies, so an earlier retry rarely succeeds.
const retryMs = 60_000;

/** Namespaces in which the API server refused a SecretSync. Each is skipped for a minute, or until the spec changes. */
export class RefusedNamespaces {
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

  /** Why nothing is written in a namespace now; undefined if a write may be tried. */
  reasonOf(key: string, namespace: string, generation: number): string | undefined {
    const refusal = this.#refusals.get(key)?.get(namespace);
    if (refusal === undefined) return undefined;
    if (refusal.generation === generation && refusal.untilMs > this.#clock.now()) return reason;
    this.#refusals.get(key)?.delete(namespace);
    return undefined;
  }

  /** Time until the first of a ClusterSecretSync's namespaces may be tried again; undefined if none is skipped. */
  untilNextTry(key: string): number | undefined {
    const times = [...(this.#refusals.get(key)?.values() ?? [])].map(({ untilMs }) => untilMs);
    if (times.length === 0) return undefined;
    return Math.max(0, times.reduce((first, time) => Math.min(first, time), Infinity) - this.#clock.now());
  }

  /** Lets every namespace of a ClusterSecretSync be tried again. */
  forget(key: string): void {
    this.#refusals.delete(key);
  }

  /** Lets a namespace be tried again: a new one of this name has other quotas and policies. */
  namespaceEnded(namespace: string): void {
    for (const refusals of this.#refusals.values()) refusals.delete(namespace);
  }
}
