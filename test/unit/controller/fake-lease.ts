import type { Lease, LeaseAttempt } from '../../../src/kube/lease.ts';
import type { FakeClock } from './fake-clock.ts';

/** A Lease that is ours unless the test says otherwise. */
export class FakeLease implements Pick<Lease, 'attempt' | 'release'> {
  /** Whether another process holds it. */
  isTaken = false;
  isReleased = false;
  readonly #clock: FakeClock;
  #wasHeld = false;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  /** Whether this process holds it. */
  get isHeld(): boolean {
    return this.#wasHeld;
  }

  attempt(): Promise<LeaseAttempt> {
    const isNew = !this.#wasHeld;
    this.#wasHeld = !this.isTaken;
    if (this.isTaken) return Promise.resolve({ kind: 'taken', holder: 'another', freeInMs: 10_000 });
    return Promise.resolve({ kind: 'held', sinceMs: this.#clock.now(), isNew });
  }

  release(): Promise<void> {
    this.isReleased = true;
    return Promise.resolve();
  }
}
