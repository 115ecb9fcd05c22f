import type { WorkQueue } from './work-queue.ts';

export interface EventChecksDeps {
  readonly queue: Pick<WorkQueue, 'add' | 'isActive'>;
  /** Where the checks of a key wait while it is worked on; undefined for a key that nothing is known of. */
  readonly deferredOf: (key: string) => (() => boolean)[] | undefined;
}

/**
 * Judges events, each by a check that takes note of it and answers whether it is news. An event that comes while its
 * resource is being reconciled is judged after that: only then is known whether it is the echo of an own write.
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

  /** Judges the events that came during a reconcile of a key; call in the moment in which it is no longer active. */
  afterReconcile(key: string): void {
    // Each check takes note of its event, so all of them are made.
    const news =
      this.#deps
        .deferredOf(key)
        ?.splice(0)
        .map((check) => check()) ?? [];
    if (news.includes(true)) this.#deps.queue.add(key);
  }
}
