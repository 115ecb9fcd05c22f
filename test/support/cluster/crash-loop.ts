import { ApiProxy } from '../faults/api-proxy.ts';
import { type KillPoint, KillSwitch } from './kill-switch.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import type { ServerProcess } from '../api/server-process.ts';
import type { Stack } from './stack.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** One thing that a controller is to bring about, under a name that nothing has had yet. */
export interface Trial {
  /** Asks for it; what the controller sends is counted from here on. */
  act(): Promise<void>;
  /** Throws as long as the controller that was not killed would not be done. */
  expectDone(): Promise<void>;
  /** Something more to be done: while no controller runs, if it was killed. */
  meanwhile?(): Promise<void>;
  /** Throws as long as it has not come about. `expectDone` if absent. */
  expectSettled?(): Promise<void>;
  /** Throws if it has come about in a way in which it must not. */
  prove(): Promise<void>;
  /** Removes what is left, so that later controllers have nothing to do with it. */
  clear?(): Promise<void>;
}

export interface CrashSeries {
  readonly of: KillPoint['of'];
  readonly moments: readonly KillPoint['moment'][];
  /** How far one message to die at is from the next. */
  readonly stride: number;
  /** The first one; 1 if absent. */
  readonly first?: number;
}

// More messages than anything takes: a loop that gets here does not end.
const mostMessages = 400;

/** A controller that is killed at its n-th message and started again, with n raised until it is done before. */
export class CrashLoop {
  readonly api: ApiProxy;
  readonly #stack: Stack;
  readonly #database: PostgresProxy;
  readonly #switch: KillSwitch;
  readonly #clock: MovedClock | undefined;
  #controller: ServerProcess | undefined;

  private constructor(
    stack: Stack,
    proxies: { readonly api: ApiProxy; readonly database: PostgresProxy },
    clock: MovedClock | undefined,
  ) {
    this.#stack = stack;
    this.#clock = clock;
    this.api = proxies.api;
    this.#database = proxies.database;
    this.#switch = new KillSwitch(proxies);
  }

  /** Starts the proxies and a first controller behind them, each controller with this clock. */
  static async start(resources: AsyncDisposableStack, stack: Stack, clock?: MovedClock): Promise<CrashLoop> {
    const api = await ApiProxy.start(stack.kubeconfigFile);
    resources.defer(() => api.close());
    const database = await PostgresProxy.start(stack.databaseUrl);
    resources.defer(() => database.close());
    const loop = new CrashLoop(stack, { api, database }, clock);
    await loop.#startController();
    return loop;
  }

  /**
   * Has the controller die at every message of a series, each time in a trial of its own, until one is done before its
   * message comes. Answers how often it died. Throws, with the message that it died at, what is wrong afterwards.
   */
  async run(series: CrashSeries, makeTrial: () => Promise<Trial>): Promise<number> {
    const { of, moments, stride, first = 1 } = series;
    let deaths = 0;
    for (let nth = first; nth < mostMessages; nth += stride) {
      const moment = moments[Math.floor((nth - first) / stride) % moments.length] ?? 'after';
      if (!(await this.#crashAt({ of, nth, moment }, await makeTrial()))) return deaths;
      deaths += 1;
    }
    throw new Error(`After ${mostMessages} messages it was still not done.`);
  }

  /** One trial; answers whether the controller died in it. */
  async #crashAt(point: KillPoint, trial: Trial): Promise<boolean> {
    const { of, nth, moment } = point;
    try {
      await this.#switch.quiet();
      if (this.#controller === undefined) throw new Error('There is no controller.');
      this.#switch.arm(this.#controller.captured, point);
      await trial.act();
      await waitFor('the controller to be done or dead', () => this.#switch.isStruck || isDone(trial));
      if (!this.#switch.isStruck) await this.#switch.quiet();
      const hasDied = this.#switch.isStruck;
      this.#switch.disarm();
      if (hasDied) await this.#controller.captured.ended;
      await trial.meanwhile?.();
      if (hasDied) await this.#startController();
      await waitFor('what was asked for', () => isSettled(trial));
      await this.#switch.quiet();
      await isSettled(trial);
      await trial.prove();
      await trial.clear?.();
      return hasDied;
    } catch (error) {
      throw new Error(`With the controller killed ${moment} ${of} ${nth}: ${messageOf(error)}`, { cause: error });
    }
  }

  async #startController(): Promise<void> {
    // The dead one's Lease would run out by itself, some seconds later.
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${this.#stack.namespaces[0]}/leases/keyframe-controller`;
    await this.#stack.kube.find({ method: 'DELETE', path: lease });
    const { kubeconfigFile } = this.api;
    const clock = this.#clock === undefined ? {} : { clock: this.#clock };
    this.#controller = await this.#stack.startController({ kubeconfigFile, databaseUrl: this.#database.url, ...clock });
  }
}

async function isDone(trial: Trial): Promise<true> {
  await trial.expectDone();
  return true;
}

async function isSettled(trial: Trial): Promise<true> {
  if (trial.expectSettled === undefined) return await isDone(trial);
  await trial.expectSettled();
  return true;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
