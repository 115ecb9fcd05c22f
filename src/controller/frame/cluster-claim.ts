import type { ClusterState } from '../../domain/cluster-ceiling.ts';
import type { Hello, HelloAnswer } from '../../domain/clusters.ts';
import type { ErrorCode } from '../../domain/errors/catalogue.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { Clock, SteadyNow } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ClusterBackend } from '../backend/cluster.ts';
import {
  clusterAccepted,
  clusterNameTaken,
  clusterNameUnconfirmed,
  clusterStopped,
  helloAccepted,
} from './messages.ts';
import type { ClusterIssuerReader } from './cluster-issuer.ts';
import type { ServerClock } from './server-clock.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface ClusterClaimDeps {
  readonly backend: ClusterBackend;
  /** The configured name of the cluster in the database; undefined if its uid is used, which is unique. */
  readonly name: string | undefined;
  /** The uid of the cluster's namespace kube-system. Throws DomainError cluster_unavailable before it is listed. */
  readonly uid: () => string;
  /** The kinds that this controller reconciles. */
  readonly kinds: () => readonly string[];
  /** Who signs the tokens of the cluster's ServiceAccounts. A leader reads it after each hello that is once a minute. */
  readonly issuer: Pick<ClusterIssuerReader, 'known' | 'refresh'>;
  /** Called when this process may start to work under the name, and when it must stop. */
  readonly onChange: (mayWork: boolean) => void;
  /** Called when an answer has another state of the cluster than the one before. */
  readonly onState: (state: ClusterState) => void;
  /** Learns the database's time from each answer. */
  readonly serverClock: Pick<ServerClock, 'note'>;
  readonly clock: Clock;
  readonly steadyNow: SteadyNow;
  readonly logger: Logger;
}

const intervalMs = 60_000;
// The name is free 10 minutes after its cluster was last seen. A server of another release may answer soon.
const refusedIntervalMs = 5_000;
// This process works during an outage of the database, so the name must be checked soon after it.
const maxRetryMs = 10_000;
/** Each of them names what a person must do. */
const refusals: ReadonlySet<ErrorCode> = new Set(['protocol_unsupported', 'cluster_unknown', 'unauthenticated']);
// The queue has only this key.
const helloKey = 'hello';

/**
 * Says hello once a minute, and so claims the name for this cluster while this process leads. Two clusters with one name
 * would share the service tokens and resources of one database, and each would suspend the other's tokens as orphans. So a
 * controller does no work if its name belongs to another cluster.
 */
export class ClusterClaim {
  readonly #deps: ClusterClaimDeps;
  readonly #queue: WorkQueue;
  #isLeading = false;
  #mayWork = false;
  /** Why this process must not lead: another cluster has the name, or the server refuses it. */
  #refusal: string | undefined;
  /** Why the server refused the last hello. It refuses a standby too. */
  #helloRefusal: string | undefined;
  #state: ClusterState = 'enabled';
  #isHome: boolean | undefined;

  constructor(deps: ClusterClaimDeps) {
    this.#deps = deps;
    const { clock, logger } = deps;
    const process = async (): Promise<Next> => await this.#sayHello();
    const backoff = { initialMs: 500, maxMs: maxRetryMs };
    this.#queue = new WorkQueue({ clock, logger, workers: 1, process, backoff });
  }

  /** Whether this process leads, and no other cluster is known to have the name. */
  get mayWork(): boolean {
    return this.#mayWork;
  }

  /** Why this process is not ready: it leads without the name, or could not lead; undefined if it is. */
  get error(): string | undefined {
    const refusal = this.#helloRefusal ?? this.#refusal;
    if (refusal !== undefined) return refusal;
    const isWaiting = this.#isLeading && !this.#mayWork;
    return isWaiting ? clusterNameUnconfirmed(this.#name()) : undefined;
  }

  /** What to do if nothing is done for this cluster; the resources report it too. Undefined if it is enabled. */
  get warning(): string | undefined {
    return this.#state === 'enabled' ? undefined : clusterStopped(this.#name(), this.#state);
  }

  /** Whether it is a cluster of the installation itself; undefined before the first answer. */
  get isHome(): boolean | undefined {
    return this.#isHome;
  }

  /** Starts to say hello, as a standby. */
  start(): void {
    this.#queue.start();
    this.hello();
  }

  /** Says hello now. Call it when the state of the cluster has changed: the answer has what an enabled cluster needs. */
  hello(): void {
    this.#queue.add(helloKey);
  }

  /** Call it when this process starts to lead. It may work when its claim is answered, or cannot be. */
  lead(): void {
    this.#isLeading = true;
    this.hello();
  }

  /** Call it when this process stops leading. */
  standBy(): void {
    this.#isLeading = false;
    this.#refusal = undefined;
    this.#allow(false);
  }

  async stop(limitMs: number): Promise<void> {
    await this.#queue.stop(limitMs);
  }

  /** Claims a configured name now. Returns whether this process may work under it. Throws DomainError store_unavailable. */
  async confirm(): Promise<boolean> {
    if (this.#deps.name !== undefined) await this.#claim();
    return this.#mayWork;
  }

  async #sayHello(): Promise<Next> {
    const claimed = await this.#tryClaim();
    if (claimed === 'unknown') return { kind: 'retry' };
    // After the claim, so that a slow API server delays no work. What is new goes with another hello.
    if (this.#mayWork && (await this.#deps.issuer.refresh())) return { kind: 'after', delayMs: 0 };
    const isRefused = this.#refusal !== undefined || this.#helloRefusal !== undefined;
    return { kind: 'after', delayMs: isRefused ? refusedIntervalMs : intervalMs };
  }

  /** An outage of the database is unknown: readiness reports it. Some work needs no database, such as removing finalizers by force. */
  async #tryClaim(): Promise<Claimed> {
    const wasLeading = this.#isLeading;
    try {
      return await this.#claim();
    } catch (error) {
      if (wasLeading) this.#settle('unknown');
      if (error instanceof DomainError) return 'unknown';
      throw error;
    }
  }

  /** Says hello, and settles what follows if this process led at its start. Returns `unknown` before the namespaces are listed. */
  async #claim(): Promise<Claimed> {
    const isLeading = this.#isLeading;
    const uid = this.#findUid();
    const kinds = this.#deps.kinds();
    const issuer = isLeading ? this.#deps.issuer.known : undefined;
    const claimed = uid === undefined ? 'unknown' : await this.#ask({ uid, isLeading, kinds, issuer });
    // The answer to a standby says nothing of a term that began meanwhile.
    if (isLeading) this.#settle(claimed);
    return claimed;
  }

  #name(): string {
    return this.#deps.name ?? this.#findUid() ?? '';
  }

  async #ask(hello: Hello): Promise<Claimed> {
    const { serverClock, steadyNow } = this.#deps;
    const askedAt = steadyNow();
    const answer = await this.#answerTo(hello);
    this.#noteRefusal('refusal' in answer ? answer.refusal : undefined);
    if ('refusal' in answer) return answer;
    const { state, holder, isHome, now } = answer;
    serverClock.note(now, askedAt);
    const isChanged = state !== this.#state;
    this.#state = state;
    this.#isHome = isHome;
    if (isChanged) this.#deps.onState(state);
    return holder === undefined ? 'ours' : { refusal: clusterNameTaken(this.#name(), holder.heldBy) };
  }

  /** Of a standby too, which may never lead while it is refused. */
  #noteRefusal(refusal: string | undefined): void {
    const { logger } = this.#deps;
    const wasRefused = this.#helloRefusal !== undefined;
    this.#helloRefusal = refusal;
    if (refusal !== undefined && !wasRefused) logger.error(refusal);
    if (refusal === undefined && wasRefused) logger.info({ name: this.#name() }, helloAccepted);
  }

  async #answerTo(hello: Hello): Promise<HelloAnswer | Refused> {
    try {
      return await this.#deps.backend.hello(hello);
    } catch (error) {
      if (error instanceof DomainError && refusals.has(error.code)) return { refusal: error.detail };
      throw error;
    }
  }

  #findUid(): string | undefined {
    try {
      return this.#deps.uid();
    } catch (error) {
      if (error instanceof DomainError) return undefined;
      throw error;
    }
  }

  #settle(claimed: Claimed): void {
    if (!this.#isLeading) return;
    const { logger } = this.#deps;
    const name = this.#name();
    const isKnown = this.#refusal !== undefined;
    if (claimed === 'unknown' && isKnown) return;
    this.#refusal = typeof claimed === 'string' ? undefined : claimed.refusal;
    if (this.#refusal !== undefined && !isKnown && this.#helloRefusal === undefined) logger.error(this.#refusal);
    if (this.#refusal === undefined && isKnown) logger.info({ name }, clusterAccepted);
    this.#allow(this.#refusal === undefined);
  }

  #allow(mayWork: boolean): void {
    if (this.#mayWork === mayWork) return;
    this.#mayWork = mayWork;
    this.#deps.onChange(mayWork);
  }
}

interface Refused {
  readonly refusal: string;
}

type Claimed = 'ours' | Refused | 'unknown';
