import type { IncomingMessage } from 'node:http';
import type { KubeHttp, KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import { adminClient } from './cluster.ts';
import { linesOf } from './stream-lines.ts';

export interface SecretObject extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** What became of the watched Secret. */
export interface SecretEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly secret: SecretObject;
  /** When it was read, in milliseconds since the epoch, with fractions. */
  readonly receivedAtMs: number;
}

interface Waiter {
  readonly isMet: (event: SecretEvent) => boolean;
  readonly resolve: (event: SecretEvent) => void;
  readonly reject: (error: Error) => void;
}

const defaultTimeoutMs = 90_000;

/** Follows one Secret. If it was there when the watch began, that is the first event. */
export class SecretWatch {
  /** All so far, the oldest first. */
  readonly events: SecretEvent[] = [];
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter>();
  readonly #what: string;
  #failure: Error | undefined;

  private constructor(what: string) {
    this.#what = what;
  }

  /** Begins to follow; every change after the answer will be seen. */
  static async open(client: KubeHttp, { namespace, name }: { namespace: string; name: string }): Promise<SecretWatch> {
    const watch = new SecretWatch(`Secret ${namespace}/${name}`);
    const query = `/api/v1/namespaces/${namespace}/secrets?fieldSelector=metadata.name%3D${name}`;
    const list = await client.json<{ metadata: { resourceVersion: string }; items: SecretObject[] }>({ path: query });
    for (const secret of list.items) watch.#take({ type: 'ADDED', secret, receivedAtMs: now() });
    const { resourceVersion } = list.metadata;
    const stream = await client.stream(`${query}&watch=true&resourceVersion=${resourceVersion}`, watch.#stop.signal);
    void watch.#follow(stream);
    return watch;
  }

  /** The first event, also of those already seen, that meets the condition. Throws if none comes in time or the watch ends. */
  next(what: string, isMet: (event: SecretEvent) => boolean, timeoutMs = defaultTimeoutMs): Promise<SecretEvent> {
    const seen = this.events.find(isMet);
    return seen === undefined ? this.#await(what, isMet, timeoutMs) : Promise.resolve(seen);
  }

  /** Stops following. */
  close(): void {
    this.#stop.abort();
  }

  async #await(what: string, isMet: Waiter['isMet'], timeoutMs: number): Promise<SecretEvent> {
    if (this.#failure !== undefined) throw this.#failure;
    const { promise, resolve, reject } = Promise.withResolvers<SecretEvent>();
    const waiter: Waiter = { isMet, resolve, reject };
    this.#waiters.add(waiter);
    const complaint = (): string =>
      `Waited ${timeoutMs} ms in vain for ${this.#what} to ${what}; saw ${this.#summary()}`;
    const timer = setTimeout(() => reject(new Error(complaint())), timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  async #follow(stream: IncomingMessage): Promise<void> {
    try {
      for await (const line of linesOf(stream)) {
        const { type, object } = JSON.parse(line) as { type: SecretEvent['type'] | 'ERROR'; object: SecretObject };
        if (type === 'ERROR') throw new Error(line);
        this.#take({ type, secret: object, receivedAtMs: now() });
      }
      this.#fail(new Error(`The watch of ${this.#what} ended.`));
    } catch (error) {
      this.#fail(new Error(`The watch of ${this.#what} failed.`, { cause: error }));
    }
  }

  #take(event: SecretEvent): void {
    this.events.push(event);
    for (const waiter of this.#waiters) if (waiter.isMet(event)) waiter.resolve(event);
  }

  #fail(error: Error): void {
    this.#failure = error;
    for (const waiter of this.#waiters) waiter.reject(error);
  }

  #summary(): string {
    if (this.events.length === 0) return 'nothing of it';
    const shown = this.events.map(
      ({ type, secret }) => `${type} with keys [${Object.keys(secret.data ?? {}).join(', ')}]`,
    );
    return shown.join(', ');
  }
}

/** Follows a Secret of the shared cluster. */
export function watchSecret(namespace: string, name: string): Promise<SecretWatch> {
  return SecretWatch.open(adminClient(), { namespace, name });
}

/** A Secret's values as text, by key. */
export function secretValues({ data = {} }: SecretObject): Map<string, string> {
  return new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
