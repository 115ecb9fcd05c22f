import { type SteadyNow, steadyNow as systemSteadyNow } from '../../lib/clock.ts';

export interface NamespaceSharesDeps {
  readonly steadyNow?: SteadyNow;
  /** The processor time that the process has used, in milliseconds. */
  readonly usedMs?: () => number;
}

interface Account {
  /** How much work is under way. */
  active: number;
  /** Processor time that counts against the namespace, in milliseconds, as of `atMs`. */
  usedMs: number;
  atMs: number;
}

// About a hundred small reconciles: what a commit asks for is done by all workers.
const burstMs = 500;
// Processor time in a second that a namespace may use for any time, in cores: a dozen small reconciles a second. The API
// server and the database use three times as much for them.
const shareOfCore = 0.05;
// More is not remembered: a namespace that was busy has all its workers again after ten seconds of rest at most.
const maxUsedMs = 2 * burstMs;
// For so long, a namespace counts as one that others should leave time to.
const othersMs = 3_600_000;

/**
 * How much processor time the work of each namespace uses. What the process uses is divided evenly among the work under
 * way, so work that only waits uses little. One object serves all queues of a process.
 */
export class NamespaceShares {
  readonly #steadyNow: SteadyNow;
  readonly #processUsedMs: () => number;
  /** The namespaces that had work in the last hour; the one whose work began last is the last. */
  readonly #accounts = new Map<string, Account>();
  /** Those that have work under way. */
  readonly #active = new Set<Account>();
  /** What the process had used when it was divided last. */
  #dividedMs: number;

  constructor({ steadyNow = systemSteadyNow, usedMs = processUsage() }: NamespaceSharesDeps = {}) {
    this.#steadyNow = steadyNow;
    this.#processUsedMs = usedMs;
    this.#dividedMs = usedMs();
  }

  /** Work of a namespace begins. What is in no namespace does not count. */
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

  /** Work of a namespace has ended. */
  end(namespace: string): void {
    this.#divide();
    const account = this.#accounts.get(namespace);
    if (account === undefined) return;
    account.active -= 1;
    if (account.active === 0) this.#active.delete(account);
  }

  /**
   * Whether a namespace uses more than its share, and has done so for more than a moment. One that is alone does not: no
   * other one had work in the last hour.
   */
  isBusy(namespace: string): boolean {
    const account = this.#accounts.get(namespace);
    if (account === undefined || this.#accounts.size === 1) return false;
    this.#divide();
    this.#settle(account);
    return account.usedMs > burstMs;
  }

  /** Counts what the process has used since the last time. */
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

  /** Takes off what the namespace was entitled to since the last time. */
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

/** Returns what the process has used, asked of the kernel once a millisecond at most: each answer costs some microseconds. */
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
