import type { WorkQueue } from './work-queue.ts';

export interface EventChecksDeps {
  readonly queue: Pick<WorkQueue, 'add' | 'isActive'>;
  /** The deferred checks of a key; undefined for an unknown key. */
  readonly deferredOf: (key: string) => (() => boolean)[] | undefined;
}

/**
 * Checks events about resources. A check returns whether the resource must be reconciled. An event during a reconcile of
 * its resource is checked afterwards, because only then is it known whether it is the echo of an own write.
 */
export class EventChecks {
  readonly #deps: EventChecksDeps;

  constructor(deps: EventChecksDeps) {
    this.#deps = deps;
  }

  notice(key: string, check: () => boolean): void {
    const { queue, deferredOf } = this.#deps;
    if (queue.isActive(key)) deferredOf(key)?.push(check);
    else if (check()) queue.add(key);
  }

  /** Runs the deferred checks of a key. Call it as soon as the key is no longer active. */
  afterReconcile(key: string): void {
    // Checks have side effects, so all of them must run.
    const results =
      this.#deps
        .deferredOf(key)
        ?.splice(0)
        .map((check) => check()) ?? [];
    if (results.includes(true)) this.#deps.queue.add(key);
  }
}
