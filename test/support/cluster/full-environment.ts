import { setTimeout as pause } from 'node:timers/promises';
import { limits } from '../../../src/domain/limits.ts';
import type { ApiEnvironment } from '../api/api-client.ts';

/** What a namespace can ask for that reads as much as its resources let it. */

const largeValue = 'v'.repeat(limits.valueBytes);
const largeKeys = Array.from({ length: limits.environmentBytes / limits.valueBytes - 1 }, (_, index) => `KEY_${index}`);
/** The key that `Commits` changes. */
const smallKey = 'TICK';
const commitIntervalMs = 500;

/** Of one SecretSync of `manySources`. */
export const sourcesOfSync = 8;

/** An environment as a SecretSync reads it. */
export interface NamedEnvironment {
  readonly environment: ApiEnvironment;
  readonly tokenSecretName: string;
}

/** Fills an environment up to its limit. */
export async function fill(environment: ApiEnvironment): Promise<void> {
  await environment.change({ [smallKey]: '0' });
  for (let from = 0; from < largeKeys.length; from += 21) {
    const keys = largeKeys.slice(from, from + 21);
    await environment.change(Object.fromEntries(keys.map((key) => [key, largeValue])));
  }
}

/** The spec of a SecretSync whose sources all name the full environment, each of which gives one small key. */
export function manySources(named: NamedEnvironment, salt: number): Readonly<Record<string, unknown>> {
  const sources = Array.from({ length: sourcesOfSync }, (_, index) => ({
    name: `source-${index}`,
    ...readingOf(named),
    keys: { include: [smallKey], rename: [{ from: smallKey, to: `TICK_${salt}_${index}` }] },
  }));
  return { sources };
}

/** The spec of a SecretSync that composes 32 values of 768 KiB each, which no Secret can hold. */
export function largeTemplate(named: NamedEnvironment, salt: number): Readonly<Record<string, unknown>> {
  const [first = '', second = ''] = [largeKeys[salt % largeKeys.length], largeKeys[(salt + 1) % largeKeys.length]];
  const text = `$(${first})$(${second})$(${first})`;
  return {
    ...readingOf(named),
    keys: { include: [first, second] },
    template: { data: Object.fromEntries(Array.from({ length: 32 }, (_, index) => [`LARGE_${index}`, text])) },
  };
}

function readingOf({ environment, tokenSecretName }: NamedEnvironment): Readonly<Record<string, unknown>> {
  return { environmentRef: environment.ref, tokenSecretRef: { name: tokenSecretName } };
}

/** Commits to an environment twice a second, until it is stopped. */
export class Commits {
  /** The value of the newest commit. */
  newest = '0';
  readonly #environment: ApiEnvironment;
  #isStopped = true;
  #running: Promise<void> = Promise.resolve();

  constructor(environment: ApiEnvironment) {
    this.#environment = environment;
  }

  start(): void {
    this.#isStopped = false;
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const value = `${Number(this.newest) + 1}`;
      await this.#environment.change({ [smallKey]: value });
      this.newest = value;
      await pause(commitIntervalMs);
    }
  }
}
