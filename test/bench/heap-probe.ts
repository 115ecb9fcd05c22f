import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { freePort } from '../../tools/free-port.ts';

/** What a planted leak keeps; see heap-probe-preload.ts. */
export const leaks = ['memory', 'sockets', 'connections'] as const;
export type Leak = (typeof leaks)[number];

/** Has a server collect its garbage, so that its heap is what it holds and not when it collected last. */
export class HeapProbe {
  readonly #port: number;
  readonly #leak: Leak | undefined;

  private constructor(port: number, leak: Leak | undefined) {
    this.#port = port;
    this.#leak = leak;
  }

  /** With a leak the server holds more and more of something, which shows that a check finds it. */
  static async make(leak?: Leak): Promise<HeapProbe> {
    return new HeapProbe(await freePort(), leak);
  }

  /** For node, before the program. */
  get nodeArgs(): readonly string[] {
    const preload = pathToFileURL(join(checkoutDirectory, 'test/bench/heap-probe-preload.ts'));
    preload.searchParams.set('port', String(this.#port));
    if (this.#leak !== undefined) preload.searchParams.set('leak', this.#leak);
    return ['--import', preload.href];
  }

  /** Collects the garbage and returns what is left: the bytes of JavaScript's objects. */
  async heapBytes(): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/`);
    return Number(await answer.text());
  }
}
