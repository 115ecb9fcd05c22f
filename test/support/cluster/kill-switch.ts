import type { ApiProxy } from '../faults/api-proxy.ts';
import type { CapturedProcess } from '../faults/captured-process.ts';
import type { ProxiedRequest } from '../faults/http-proxy.ts';
import type { FrontendMessage } from '../faults/postgres-proxy.ts';
import { waitFor } from '../fixtures/wait-for.ts';
import type { BackendProxy } from './backend-proxy.ts';

/** At which message a process is killed. */
export interface KillPoint {
  /**
   * What is counted: statements that PostgreSQL is to run, those that commit alone, calls of the server over HTTPS, or
   * requests to the API server.
   */
  readonly of: 'statement' | 'commit' | 'call' | 'request';
  /** 1 is the first one after the arming. */
  readonly nth: number;
  /** Whether the other side never gets the message, or has it and its answer is lost. */
  readonly moment: 'before' | 'after';
}

/** How many messages of each kind were sent. */
export type MessageCounts = Readonly<Record<KillPoint['of'], number>>;

export type KillSwitchDeps = BackendProxy & { readonly api: ApiProxy };

const noCounts: MessageCounts = { statement: 0, commit: 0, call: 0, request: 0 };
// The longest pause between two messages of a reconcile is shorter.
const quietMs = 200;

/**
 * Kills a process by SIGKILL at the n-th message that it sends through proxies. Not counted is what comes by the clock
 * whatever is going on: the Lease, hellos, the stream or the connection that reports commits, and watches with the lists that
 * they begin with.
 */
export class KillSwitch {
  #victim: CapturedProcess | undefined;
  #point: KillPoint = { of: 'statement', nth: 0, moment: 'before' };
  #counts: Record<KillPoint['of'], number> = { ...noCounts };
  #lastAtMs = performance.now();
  #isStruck = false;

  constructor(deps: KillSwitchDeps) {
    const always = { times: Infinity };
    deps.api.cut((request) => isWork(request) && this.#isCutOff(['request']), always);
    if ('server' in deps) deps.server.cut((request) => isCall(request) && this.#isCutOff(['call']), always);
    else {
      const { database } = deps;
      const isStatement = ({ type, connection }: FrontendMessage): boolean =>
        (type === 'Query' || type === 'Execute') && !database.listeners().some(({ id }) => id === connection);
      database.cut((message) => isStatement(message) && this.#isCutOff(kindsOf(message)), 'before', always);
    }
  }

  /** Whether the point was reached since the arming. */
  get isStruck(): boolean {
    return this.#isStruck;
  }

  /** Counts from here on. */
  arm(victim: CapturedProcess, point: KillPoint): void {
    this.#victim = victim;
    this.#point = point;
    this.#counts = { ...noCounts };
    this.#isStruck = false;
  }

  /** Returns what was sent since the arming. */
  disarm(): MessageCounts {
    this.#victim = undefined;
    return { ...this.#counts };
  }

  /** Waits until nothing that counts has been sent for a while. */
  async quiet(): Promise<void> {
    await waitFor('the process to have nothing to say', () => performance.now() - this.#lastAtMs > quietMs);
  }

  /** Counts a message, and kills at the right one; answers whether that one is not to be passed on. */
  #isCutOff(kinds: readonly KillPoint['of'][]): boolean {
    this.#lastAtMs = performance.now();
    for (const kind of kinds) this.#counts[kind] += 1;
    const { of, nth, moment } = this.#point;
    if (this.#victim === undefined || this.#isStruck || !kinds.includes(of) || this.#counts[of] !== nth) return false;
    this.#strike(moment);
    return moment === 'before';
  }

  #strike(moment: KillPoint['moment']): void {
    this.#isStruck = true;
    const victim = this.#victim;
    if (moment === 'before') victim?.signal('SIGKILL');
    // When the proxy has passed it on, which it does before it turns to anything else.
    else setImmediate(() => victim?.signal('SIGKILL'));
  }
}

function isWork({ isWatch, path, method, query }: ProxiedRequest): boolean {
  const isLease = path.includes('/leases');
  const isList =
    method === 'GET' && (query.has('limit') || query.has('resourceVersionMatch') || query.has('fieldSelector'));
  return !isWatch && !isLease && !isList;
}

/** A call of a method of the server, other than hello. */
function isCall({ method, path }: ProxiedRequest): boolean {
  return method === 'POST' && !path.endsWith('/hello');
}

function kindsOf({ sql = '' }: FrontendMessage): readonly KillPoint['of'][] {
  return /^\s*commit/i.test(sql) ? ['statement', 'commit'] : ['statement'];
}
