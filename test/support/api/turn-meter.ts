import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { freePort } from '../../../tools/free-port.ts';

/** Measures how long one turn of a server's event loop keeps all other requests waiting. */
export class TurnMeter {
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
  }

  static async make(): Promise<TurnMeter> {
    return new TurnMeter(await freePort());
  }

  /** For node, before the program. */
  get nodeArgs(): readonly string[] {
    const preload = pathToFileURL(join(checkoutDirectory, 'test/support/api/turn-meter-preload.ts'));
    preload.searchParams.set('port', String(this.#port));
    return ['--import', preload.href];
  }

  /** CPU time of the longest turn while `work` runs, in milliseconds. */
  async during(work: () => Promise<unknown>): Promise<number> {
    await this.#ask('turn');
    await work();
    return this.#ask('turn');
  }

  /** CPU time that the event loop has used so far, in milliseconds. */
  usedMs(): Promise<number> {
    return this.#ask('used');
  }

  async #ask(path: 'turn' | 'used'): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/${path}`);
    return Number(await answer.text());
  }
}
