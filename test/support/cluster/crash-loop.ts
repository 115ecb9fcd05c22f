import type { PortAdapter } from '../api/adapters.ts';
import { ApiProxy } from '../faults/api-proxy.ts';
import { type KillPoint, KillSwitch, type KillSwitchDeps, type MessageCounts } from './kill-switch.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { proxyTo, throughProxy } from './backend-proxy.ts';
import type { ServerProcess } from '../api/server-process.ts';
import type { ControllerOptions, Stack } from './stack.ts';
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

// More messages than anything takes: a loop that gets here does not end.
const mostMessages = 400;

export interface CrashLoopOptions {
  /** How the controllers reach Keyframe. */
  readonly adapter: PortAdapter;
  /** Of each controller; the machine's if it is left out. */
  readonly clock?: MovedClock | undefined;
}

/** A controller that is killed at its n-th message and started again. */
export class CrashLoop {
  readonly api: ApiProxy;
  readonly #stack: Stack;
  readonly #controllers: ControllerOptions;
  readonly #switch: KillSwitch;
  #controller: ServerProcess | undefined;

  private constructor(stack: Stack, ways: KillSwitchDeps, clock: MovedClock | undefined) {
    const { api } = ways;
    this.#stack = stack;
    this.api = api;
    this.#switch = new KillSwitch(ways);
    this.#controllers = {
      kubeconfigFile: api.kubeconfigFile,
      ...throughProxy(ways),
      ...(clock === undefined ? {} : { clock }),
    };
  }

  /** Starts the proxies and a first controller behind them. */
  static async start(
    resources: AsyncDisposableStack,
    stack: Stack,
    { adapter, clock }: CrashLoopOptions,
  ): Promise<CrashLoop> {
    const api = await ApiProxy.start(stack.kubeconfigFile);
    resources.defer(() => api.close());
    const loop = new CrashLoop(stack, { api, ...(await proxyTo(adapter, stack, resources)) }, clock);
    await loop.#startController();
    return loop;
  }

  /**
   * Has the controller die at every message of a kind, each time in a trial of its own, until one is done before its message
   * comes. Returns how often it died. Throws, with the message that it died at, what is wrong afterwards.
   */
  async dieEverywhere({ of, moment }: Omit<KillPoint, 'nth'>, makeTrial: () => Promise<Trial>): Promise<number> {
    for (let nth = 1; nth < mostMessages; nth += 1) {
      const { hasDied } = await this.#crashAt({ of, nth, moment }, await makeTrial());
      if (!hasDied) return nth - 1;
    }
    throw new Error(`After ${mostMessages} messages it was still not done.`);
  }

  /** Has the controller die at one message, or at an earlier one if a trial is done before it. Throws like `dieEverywhere`. */
  async dieAt({ of, nth, moment }: KillPoint, makeTrial: () => Promise<Trial>): Promise<void> {
    for (let number = nth; number >= 1; number = Math.floor(number / 2)) {
      const { hasDied } = await this.#crashAt({ of, nth: number, moment }, await makeTrial());
      if (hasDied) return;
    }
    throw new Error(`No ${of} came, at which the controller could have been killed.`);
  }

  /** Lets one trial end undisturbed. Returns how many messages it took. */
  async countMessages(makeTrial: () => Promise<Trial>): Promise<MessageCounts> {
    const { counts } = await this.#crashAt({ of: 'request', nth: Infinity, moment: 'after' }, await makeTrial());
    return counts;
  }

  /** One trial. Returns whether the controller died in it, and what it sent until it was done or dead. */
  async #crashAt(point: KillPoint, trial: Trial): Promise<{ hasDied: boolean; counts: MessageCounts }> {
    const { of, nth, moment } = point;
    try {
      await this.#switch.quiet();
      if (this.#controller === undefined) throw new Error('There is no controller.');
      this.#switch.arm(this.#controller.captured, point);
      await trial.act();
      await waitFor('the controller to be done or dead', () => this.#switch.isStruck || isDone(trial));
      if (!this.#switch.isStruck) await this.#switch.quiet();
      const hasDied = this.#switch.isStruck;
      const counts = this.#switch.disarm();
      if (hasDied) await this.#controller.captured.ended;
      await trial.meanwhile?.();
      if (hasDied) await this.#startController();
      await waitFor('what was asked for', () => isSettled(trial));
      await this.#switch.quiet();
      await isSettled(trial);
      await trial.prove();
      await trial.clear?.();
      return { hasDied, counts };
    } catch (error) {
      const how = Number.isFinite(nth) ? `With the controller killed ${moment} ${of} ${nth}` : 'Without a kill';
      throw new Error(`${how}: ${messageOf(error)}`, { cause: error });
    }
  }

  async #startController(): Promise<void> {
    // The dead one's Lease would run out by itself, some seconds later.
    const lease = `/apis/coordination.k8s.io/v1/namespaces/${this.#stack.namespaces[0]}/leases/keyframe-controller`;
    await this.#stack.kube.find({ method: 'DELETE', path: lease });
    this.#controller = await this.#stack.startController(this.#controllers);
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
