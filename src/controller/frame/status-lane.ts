import { isDeepStrictEqual } from 'node:util';
import { errorCatalogue } from '../../domain/errors/catalogue.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { patchStatus } from '../../kube/client/custom-resources.ts';
import { type EventDeps, type ObjectEvent, recordEvent } from '../../kube/client/events.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import type { ReadyClaim, SideClaim } from './conditions.ts';
import { retryAfter } from './failure.ts';
import type { KindRules } from './kind-rules.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import type { ReportedOutcome } from './outcome.ts';
import type { Resource, StatusOf } from './resource.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface StatusLaneDeps<T extends Resource, O extends ReportedOutcome> {
  readonly rules: Pick<KindRules<T, O>, 'kind' | 'action' | 'statusAfter' | 'sideClaim'>;
  readonly client: Pick<KubeClient, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly shares: NamespaceShares;
  readonly events: Omit<EventDeps, 'client'>;
  /** A resource as the watch shows it, or as an own write left it if the watch is behind. */
  readonly find: (key: string) => T | undefined;
  /** Whether reconciles wait for a worker: they go first. */
  readonly areReconcilesWaiting: () => boolean;
  /** Called with the version that a patch replaced, and what it left. */
  readonly onPatched: (key: string, base: string, patched: T) => void;
  /** Called when a key ceases to be worked on. */
  readonly onInactive: (key: string) => void;
}

/** The newest outcome of a resource. */
interface Report<O> {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly outcome: O;
}

/** What a status reports, as Events report it. */
interface Claims {
  readonly claim: ReadyClaim;
  readonly side: SideClaim | undefined;
}

// Patches wait for the API server for the most part.
const maxWorkers = 6;
// Of them, while reconciles wait for a worker.
const minWorkers = 2;
// A change that many Secrets take is written to all of them before the first status. A status is late by this at most.
const maxHoldMs = 500;

/**
 * Reports outcomes: one patch of the status if it differs, and an Event if a reason changed. Reconciles go first: patches wait
 * until no reconcile is under way, for at most half a second. Of several outcomes of a resource that wait, the newest is
 * reported. A patch that fails is repeated, not the reconcile.
 */
export class StatusLane<T extends Resource, O extends ReportedOutcome> {
  readonly #deps: StatusLaneDeps<T, O>;
  readonly #queue: WorkQueue;
  readonly #reports = new Map<string, Report<O>>();
  /** The status that was reported last, or found to be right. */
  readonly #known = new Map<string, StatusOf<T>>();
  /** Those whose newest outcome is not in the status yet. */
  readonly #unreported = new Set<string>();
  /** Those whose patch failed. */
  readonly #failed = new Set<string>();
  /** The patches under way. */
  readonly #writing = new Map<string, Promise<unknown>>();
  /** Ends the wait of the patches for the reconciles; undefined if they do not wait. */
  #cancelHold: (() => void) | undefined;

  constructor(deps: StatusLaneDeps<T, O>) {
    this.#deps = deps;
    const { clock, logger, shares, onInactive } = deps;
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      onInactive,
      workers: () => this.#workers,
      process: async (key) => await this.#process(key),
    });
  }

  /** Whether a status is being written at this moment. */
  isActive(key: string): boolean {
    return this.#queue.isActive(key);
  }

  /** The status that was reported last, or found to be right; undefined before the first one. */
  known(key: string): StatusOf<T> | undefined {
    return this.#known.get(key);
  }

  /** The resource with the status of its newest outcome, which may not have been reported yet. */
  withNewestStatus(key: string, resource: T): T {
    const report = this.#reports.get(key);
    if (report === undefined || !this.#unreported.has(key) || !isAbout(report, resource)) return resource;
    const { rules, clock } = this.#deps;
    return { ...resource, status: rules.statusAfter(resource, this.#known.get(key), report.outcome, clock.now()) };
  }

  /** Whether the newest outcome of a resource is in its status. */
  isReported(key: string): boolean {
    return !this.#unreported.has(key);
  }

  /** Resolves when no status of the resource is being written. */
  async idle(key: string): Promise<void> {
    await this.#writing.get(key);
  }

  /** Reports an outcome of a resource in this version. */
  report(key: string, { metadata: { uid, generation } }: T, outcome: O): void {
    this.#reports.set(key, { uid, generation, outcome });
    this.#unreported.add(key);
    // The very reconcile that reports is under way, too.
    if (this.#queue.isIdle) this.#cancelHold ??= this.#deps.clock.after(maxHoldMs, () => this.#endHold());
    this.#queue.add(key);
  }

  /** Call when no reconcile is under way any more: patches need not wait. */
  reconcilesEnded(): void {
    this.#endHold();
  }

  /** Reports the newest outcome again, with what has changed beside it. */
  refresh(key: string): void {
    if (this.#reports.has(key)) this.#queue.add(key);
  }

  /** Repeats a patch that failed, if that of this resource did. */
  retry(key: string): void {
    if (this.#failed.has(key)) this.#queue.add(key);
  }

  /** Drops all that is known of a resource. */
  forget(key: string): void {
    this.#queue.forget(key);
    this.#reports.delete(key);
    this.#known.delete(key);
    this.#unreported.delete(key);
    this.#failed.delete(key);
  }

  start(): void {
    this.#queue.start();
  }

  /** Reports nothing more until `start`, and drops all outcomes: another process may report newer ones meanwhile. */
  pause(): void {
    this.#queue.pause();
    this.#reports.clear();
    this.#known.clear();
    this.#unreported.clear();
    this.#failed.clear();
  }

  async drain(limitMs: number): Promise<void> {
    this.#endHold();
    await this.#queue.stop(limitMs);
  }

  get #workers(): number {
    if (this.#cancelHold !== undefined) return 0;
    return this.#deps.areReconcilesWaiting() ? minWorkers : maxWorkers;
  }

  #endHold(): void {
    if (this.#cancelHold === undefined) return;
    this.#cancelHold();
    this.#cancelHold = undefined;
    this.#queue.pump();
  }

  async #process(key: string): Promise<Next> {
    const report = this.#reports.get(key);
    const resource = this.#deps.find(key);
    if (report === undefined || resource === undefined) return { kind: 'done' };
    // Of an older spec nothing is reported: the reconcile of the newer one is due.
    if (!isAbout(report, resource)) return { kind: 'done' };
    const { rules, clock } = this.#deps;
    const { outcome } = report;
    const known = this.#known.get(key);
    const status = rules.statusAfter(resource, known, outcome, clock.now());
    const side = rules.sideClaim?.(resource, outcome);
    const writing = this.#patch(key, resource, status);
    this.#writing.set(
      key,
      writing.catch(() => undefined),
    );
    try {
      await writing;
    } catch (error) {
      return this.#patchFailed(key, error, report);
    } finally {
      this.#writing.delete(key);
    }
    this.#failed.delete(key);
    const newest = this.#reports.get(key);
    // Forgotten meanwhile, and perhaps made again.
    if (newest?.uid !== report.uid) return { kind: 'done' };
    if (newest === report) this.#unreported.delete(key);
    this.#known.set(key, status);
    this.#recordEvents(resource, known ?? resource.status, { claim: outcome.claim, side });
    return { kind: 'done' };
  }

  async #patch(key: string, resource: T, status: StatusOf<T>): Promise<void> {
    const patch = statusPatch(resource.status, status);
    if (patch === undefined) return;
    const { client, rules, onPatched } = this.#deps;
    const { namespace, name, resourceVersion } = resource.metadata;
    const place = { resource: { namespace, name }, resourceVersion, status: patch };
    const patched = await patchStatus(client, rules.kind, place);
    const metadata = { ...resource.metadata, resourceVersion: patched.resourceVersion };
    onPatched(key, resourceVersion, { ...resource, metadata, status });
  }

  #patchFailed(key: string, error: unknown, { uid, outcome: { claim } }: Report<O>): Next {
    // Deleted meanwhile, or forgotten.
    if (isApiStatus(error, 404) || this.#reports.get(key)?.uid !== uid) return { kind: 'done' };
    this.#failed.add(key);
    // The watch will show the newer version. Of an API server that fails the reconcile reports already.
    const isKnown = isApiStatus(error, 409) || claim.reason === errorCatalogue.cluster_unavailable.reason;
    this.#deps.logger[isKnown ? 'debug' : 'warn'](
      { key, ...errorFields(error) },
      'the status could not be written; it is tried again',
    );
    return retryAfter(error);
  }

  #recordEvents(resource: T, before: StatusOf<T> | undefined, { claim, side }: Claims): void {
    const { action } = this.#deps.rules;
    if (needsEvent(before, claim)) this.#recordEvent(resource, readyEvent(claim, action));
    if (side !== undefined && reasonOf(before, side.claim.type) !== side.claim.reason) {
      this.#recordEvent(resource, sideEvent(side));
    }
  }

  // Best effort, and nothing waits for it: the status reports the same.
  #recordEvent(resource: T, event: Omit<ObjectEvent, 'at'>): void {
    const { client, events, clock, logger, rules } = this.#deps;
    recordEvent({ client, ...events }, rules.kind, resource, { ...event, at: clock.now() }).catch((error: unknown) => {
      const { namespace = '', name } = resource.metadata;
      logger.debug({ key: `${namespace}/${name}`, ...errorFields(error) }, 'an Event was not recorded');
    });
  }
}

function isAbout<O>({ uid, generation }: Report<O>, { metadata }: Resource): boolean {
  return metadata.uid === uid && metadata.generation === generation;
}

/** The merge patch that makes one status into another: null for what goes. Undefined where nothing differs. */
export function statusPatch(present: object | undefined, next: object): Record<string, unknown> | undefined {
  const before = new Map<string, unknown>(Object.entries(present ?? {}));
  const after = new Map<string, unknown>(Object.entries(next));
  const fields = new Set([...before.keys(), ...after.keys()]);
  const differing = [...fields].filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)));
  if (differing.length === 0) return undefined;
  return Object.fromEntries(differing.map((field) => [field, mergedInto(before.get(field), after.get(field))]));
}

/** What makes one value into another in a merge patch (RFC 7396), which would keep what an object has no more. */
function mergedInto(before: unknown, after: unknown): unknown {
  if (!isMap(before) || !isMap(after)) return after ?? null;
  const fields = [...Object.keys(before), ...Object.keys(after)];
  return Object.fromEntries(fields.map((field) => [field, mergedInto(before[field], after[field])]));
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The reason of one condition; undefined if the status has no such condition. */
export function reasonOf(status: Resource['status'], conditionType: string): string | undefined {
  return status?.conditions?.find(({ type }) => type === conditionType)?.reason;
}

/** Whether a claim is worth an Event. What was under way without one gets its Event when it stalls. */
function needsEvent(before: Resource['status'], { progress, reason, isQuiet = false }: ReadyClaim): boolean {
  const isStalled = before?.conditions?.some(({ type, status }) => type === 'Stalled' && status === 'True') === true;
  return !isQuiet && (reasonOf(before, 'Ready') !== reason || (progress === 'stalled' && !isStalled));
}

function readyEvent({ progress, reason, message }: ReadyClaim, action: string): Omit<ObjectEvent, 'at'> {
  const type = progress === 'done' || progress === 'suspended' ? 'Normal' : 'Warning';
  return { type, reason, action, note: message };
}

function sideEvent({ claim: { reason, message }, action, isTrouble }: SideClaim): Omit<ObjectEvent, 'at'> {
  return { type: isTrouble ? 'Warning' : 'Normal', reason, action, note: message };
}
