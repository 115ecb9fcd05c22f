import { setTimeout as pause } from 'node:timers/promises';

/** A piece of work that is done again and again. */
export interface LoadTask {
  readonly name: string;
  /** How often it begins; when one takes longer, the next begins after it, and none is made up for. */
  readonly everyMs: number;
  readonly run: () => Promise<void>;
}

/** Work at a bounded rate, until it is stopped. */
export class PacedLoad {
  /** How often each task was done. */
  readonly counts = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;

  private constructor(tasks: readonly LoadTask[]) {
    this.#running = Promise.all(tasks.map((task) => this.#repeat(task)));
  }

  /** Begins, and ends with `resources` at the latest. */
  static start(resources: AsyncDisposableStack, tasks: readonly LoadTask[]): PacedLoad {
    const load = new PacedLoad(tasks);
    resources.defer(() => load.stop());
    return load;
  }

  /** Resolves when the work under way is done. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #repeat({ name, everyMs, run }: LoadTask): Promise<void> {
    const { signal } = this.#stop;
    this.counts.set(name, 0);
    // At first at a time of its own, so that not all tasks begin together.
    for (
      let dueMs = performance.now() + Math.random() * everyMs;
      ;
      dueMs = Math.max(dueMs + everyMs, performance.now())
    ) {
      await pause(dueMs - performance.now(), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        await run();
        this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
      } catch (error) {
        this.failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}
