import { type SteadyNow, steadyNow as systemSteadyNow } from '../../lib/clock.ts';

export interface NamespaceSharesDeps {
  readonly steadyNow?: SteadyNow;
  /** The processor time that the process has used, in milliseconds. */
  readonly usedMs?: () => number;
}

interface Account {
  /** How many reconciles and status patches are in progress. */
  active: number;
  /** The processor time that counts against the namespace at `atMs`, in milliseconds. */
  usedMs: number;
  atMs: number;
}

// About a hundred small reconciles: the work after one commit uses all workers.
const burstMs = 500;
// The processor time that a namespace may use permanently, in cores: a dozen small reconciles a second. The API server and
// the database use three times as much for them.
const shareOfCore = 0.05;
// More is not counted: a busy namespace has all its workers again after at most ten seconds of rest.
const maxUsedMs = 2 * burstMs;
// How long a namespace counts as active after its last work.
const othersMs = 3_600_000;

/**
 * The processor time that the work of each namespace uses. The time that the process uses is divided evenly among the work
 * in progress, so work that only waits uses little. One object serves all queues of a process.
 */
export class NamespaceShares {
  readonly #steadyNow: SteadyNow;
  readonly #processUsedMs: () => number;
  /** The namespaces with work in the last hour, sorted by the start of their newest work. */
  readonly #accounts = new Map<string, Account>();
  /** The namespaces with work in progress. */
  readonly #active = new Set<Account>();
  /** The processor time that was already divided. */
  #dividedMs: number;

  constructor({ steadyNow = systemSteadyNow, usedMs = processUsage() }: NamespaceSharesDeps = {}) {
    this.#steadyNow = steadyNow;
    this.#processUsedMs = usedMs;
    this.#dividedMs = usedMs();
  }

  /** Call it when work of a namespace starts. Cluster-scoped resources do not count. */
  begin(namespace: string): void {
    if (namespace === '') return;
    this.#divide();
    const atMs = this.#steadyNow();
    const account = this.#accounts.get(namespace) ?? { active: 0, usedMs: 0, atMs };
    account.active += 1;
    this.#active.add(account);
    this.#accounts.delete(namespace);
    this.#accounts.set(namespace, account);
    this.#forgetIdle(atMs);
  }

  /** Call it when work of a namespace has ended. */
  end(namespace: string): void {
    this.#divide();
    const account = this.#accounts.get(namespace);
    if (account === undefined) return;
    account.active -= 1;
    if (account.active === 0) this.#active.delete(account);
  }

  /**
   * Whether a namespace uses more than its share, for more than a moment. A namespace is never busy if no other one had work
   * in the last hour.
   */
  isBusy(namespace: string): boolean {
    const account = this.#accounts.get(namespace);
    if (account === undefined || this.#accounts.size === 1) return false;
    this.#divide();
    this.#settle(account);
    return account.usedMs > burstMs;
  }

  /** Divides the processor time since the last call among the work in progress. */
  #divide(): void {
    const usedMs = this.#processUsedMs();
    const newMs = usedMs - this.#dividedMs;
    this.#dividedMs = usedMs;
    let pieces = 0;
    for (const { active } of this.#active) pieces += active;
    for (const account of this.#active) {
      this.#settle(account);
      account.usedMs = Math.min(account.usedMs + (newMs * account.active) / pieces, maxUsedMs);
    }
  }

  /** Subtracts the share of the namespace since the last call. */
  #settle(account: Account): void {
    const nowMs = this.#steadyNow();
    account.usedMs = Math.max(account.usedMs - (nowMs - account.atMs) * shareOfCore, 0);
    account.atMs = nowMs;
  }

  #forgetIdle(nowMs: number): void {
    for (const [namespace, account] of this.#accounts) {
      if (account.active > 0) continue;
      if (nowMs - account.atMs < othersMs) return;
      this.#accounts.delete(namespace);
    }
  }
}

/** Returns a function for the processor time of the process. It asks the kernel at most once a millisecond, because that is slow. */
function processUsage(): () => number {
  let usedMs = 0;
  let askedAtMs = -Infinity;
  return () => {
    const nowMs = performance.now();
    if (nowMs - askedAtMs < 1) return usedMs;
    askedAtMs = nowMs;
    const { user, system } = process.cpuUsage();
    usedMs = (user + system) / 1000;
    return usedMs;
  };
}
