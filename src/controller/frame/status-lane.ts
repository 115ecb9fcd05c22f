import { isDeepStrictEqual } from 'node:util';
import { errorCatalogue } from '../../domain/errors/catalogue.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import { patchStatus } from '../../kube/client/custom-resources.ts';
import { type EventDeps, type ObjectEvent, recordEvent } from '../../kube/client/events.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import type { Notice, Progress, ReadyClaim, SideClaim } from './conditions.ts';
import { EventPace } from './event-pace.ts';
import { retryAfter } from './failure.ts';
import type { KindRules } from './kind-rules.ts';
import { eventNotRecorded, statusNotWritten } from './messages.ts';
import type { NamespaceShares } from './namespace-shares.ts';
import type { ReportedOutcome } from './outcome.ts';
import { Patience } from './patience.ts';
import type { Resource, StatusOf } from './resource.ts';
import { type Next, WorkQueue } from './work-queue.ts';

export interface StatusLaneDeps<T extends Resource, O extends ReportedOutcome> {
  readonly rules: Pick<
    KindRules<T, O>,
    'kind' | 'action' | 'statusAfter' | 'sideClaim' | 'isFirstSuccessQuiet' | 'onReport'
  >;
  readonly client: Pick<KubeClient, 'request'>;
  readonly clock: Clock;
  /** The time of statuses. */
  readonly serverNow: () => number;
  readonly logger: Logger;
  readonly shares: NamespaceShares;
  readonly events: Omit<EventDeps, 'client'>;
  /** A resource from the watch, or from an own write that is newer. */
  readonly find: (key: string) => T | undefined;
  /** Whether reconciles wait for a worker. They have priority. */
  readonly areReconcilesWaiting: () => boolean;
  /** Called with the version that a patch replaced, and with the new resource. */
  readonly onPatched: (key: string, base: string, patched: T) => void;
  /** Called when a key is no longer active. */
  readonly onInactive: (key: string) => void;
}

/** The newest outcome of a resource. */
interface Report<O> {
  readonly uid: string;
  readonly generation: number | undefined;
  readonly outcome: O;
}

/** The conditions that Events report. */
interface Claims {
  readonly claim: ReadyClaim;
  /** The progress of the claim before its time ran out. */
  readonly progress: Progress;
  readonly side: SideClaim | undefined;
}

/** The reason of Ready that the last Event reported; undefined if there was none. */
interface Announced {
  readonly reason: string | undefined;
}

// Patches mostly wait for the API server.
const maxWorkers = 6;
// The limit while reconciles wait for a worker.
const minWorkers = 2;
// A change is written to all its Secrets before the first status. This is the maximum delay of a status.
const maxHoldMs = 500;

/**
 * Reports outcomes: one patch of the status if it differs, and an Event if a reason changed. Reconciles have priority: patches
 * wait until no reconcile is in progress, for at most half a second. If several outcomes of a resource wait, only the newest
 * is reported. If a patch fails, the patch is repeated, not the reconcile.
 */
export class StatusLane<T extends Resource, O extends ReportedOutcome> {
  readonly #deps: StatusLaneDeps<T, O>;
  readonly #queue: WorkQueue;
  readonly #reports = new Map<string, Report<O>>();
  /** The last status that was written or verified. */
  readonly #known = new Map<string, StatusOf<T>>();
  /** The keys whose newest outcome is not in the status yet. */
  readonly #unreported = new Set<string>();
  /** The keys whose patch failed. */
  readonly #failed = new Set<string>();
  /** Since when resources are in progress. */
  readonly #patience = new Patience();
  /** What Events have reported of resources that wait. */
  readonly #announced = new Map<string, Announced>();
  /** Notices can come and go with what others change. */
  readonly #noticePace: EventPace;
  /** The patches in progress. */
  readonly #writing = new Map<string, Promise<unknown>>();
  /** Cancels the timer of the hold; undefined if patches are not held back. */
  #cancelHold: (() => void) | undefined;

  constructor(deps: StatusLaneDeps<T, O>) {
    this.#deps = deps;
    const { clock, logger, shares, onInactive } = deps;
    this.#noticePace = new EventPace(clock);
    this.#queue = new WorkQueue({
      clock,
      logger,
      shares,
      onInactive,
      workers: () => this.#workers,
      process: async (key) => await this.#process(key),
    });
  }

  /** Whether a status is being written now. */
  isActive(key: string): boolean {
    return this.#queue.isActive(key);
  }

  /** The last status that was written or verified; undefined before the first one. */
  known(key: string): StatusOf<T> | undefined {
    return this.#known.get(key);
  }

  /** The resource with the status of its newest outcome, which may not have been reported yet. */
  withNewestStatus(key: string, resource: T): T {
    const report = this.#reports.get(key);
    if (report === undefined || !this.#unreported.has(key) || !isAbout(report, resource)) return resource;
    const { rules, clock, serverNow } = this.#deps;
    const outcome = { ...report.outcome, ...this.#patience.timed(key, report.outcome.claim, clock.now()) };
    return { ...resource, status: rules.statusAfter(resource, this.#known.get(key), outcome, serverNow()) };
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
  report(key: string, resource: T, outcome: O): void {
    const { uid, generation } = resource.metadata;
    this.#patience.observe(key, resource, outcome.claim, this.#deps.clock.now());
    this.#reports.set(key, { uid, generation, outcome });
    this.#unreported.add(key);
    // The reconcile that reports is itself still in progress.
    if (this.#queue.isIdle) this.#cancelHold ??= this.#deps.clock.after(maxHoldMs, () => this.endHold());
    this.#queue.add(key);
  }

  /** Call it when no reconcile is in progress: patches no longer wait. */
  endHold(): void {
    if (this.#cancelHold === undefined) return;
    this.#cancelHold();
    this.#cancelHold = undefined;
    this.#queue.pump();
  }

  /** Reports the newest outcome again, with other parts of the status updated. */
  refresh(key: string): void {
    if (this.#reports.has(key)) this.#queue.add(key);
  }

  /** Repeats the patch of this resource if it failed. */
  retry(key: string): void {
    if (this.#failed.has(key)) this.#queue.add(key);
  }

  /** Drops the state of a resource. */
  forget(key: string): void {
    this.#queue.forget(key);
    this.#reports.delete(key);
    this.#known.delete(key);
    this.#unreported.delete(key);
    this.#failed.delete(key);
    this.#patience.forget(key);
    this.#announced.delete(key);
    this.#noticePace.forget(key);
  }

  start(): void {
    this.#queue.start();
  }

  /** Reports nothing until `start`, and drops all outcomes, because another process may report newer ones. */
  pause(): void {
    this.#queue.pause();
    this.#reports.clear();
    this.#known.clear();
    this.#unreported.clear();
    this.#failed.clear();
    this.#patience.clear();
    this.#announced.clear();
    this.#noticePace.clear();
  }

  async drain(limitMs: number): Promise<void> {
    this.endHold();
    await this.#queue.stop(limitMs);
  }

  get #workers(): number {
    if (this.#cancelHold !== undefined) return 0;
    return this.#deps.areReconcilesWaiting() ? minWorkers : maxWorkers;
  }

  async #process(key: string): Promise<Next> {
    const due = this.#due(key);
    if (due === undefined) return { kind: 'done' };
    const { report, resource } = due;
    const { outcome } = report;
    const { rules, clock, serverNow } = this.#deps;
    const known = this.#known.get(key);
    const { claim, leftMs } = this.#patience.timed(key, outcome.claim, clock.now());
    const timed = { ...outcome, claim };
    const status = rules.statusAfter(resource, known, timed, serverNow());
    rules.onReport?.(resource, { outcome: timed, status });
    const side = rules.sideClaim?.(resource, outcome);
    const failure = await this.#write(key, this.#patch(key, resource, status));
    if (failure !== undefined) return this.#patchFailed(key, failure.error, report);
    this.#failed.delete(key);
    const newest = this.#reports.get(key);
    // The resource was deleted during the patch, and perhaps created again.
    if (newest?.uid !== report.uid) return { kind: 'done' };
    if (newest === report) this.#unreported.delete(key);
    this.#known.set(key, status);
    this.#recordEvents(key, resource, known ?? resource.status, { claim, progress: outcome.claim.progress, side });
    return leftMs === undefined ? { kind: 'done' } : { kind: 'after', delayMs: leftMs };
  }

  /** An outcome to report. One of an older spec is not reported: the reconcile of the newer spec is due. */
  #due(key: string): { readonly report: Report<O>; readonly resource: T } | undefined {
    const report = this.#reports.get(key);
    const resource = this.#deps.find(key);
    if (report === undefined || resource === undefined || !isAbout(report, resource)) return undefined;
    return { report, resource };
  }

  /** Waits for a patch in progress. Returns its error, if it failed. */
  async #write(key: string, patch: Promise<void>): Promise<{ readonly error: unknown } | undefined> {
    const settled = patch.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    this.#writing.set(key, settled);
    const failure = await settled;
    this.#writing.delete(key);
    return failure;
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
    // The resource was deleted.
    if (isApiStatus(error, 404) || this.#reports.get(key)?.uid !== uid) return { kind: 'done' };
    this.#failed.add(key);
    // After a conflict, the watch will show the newer version. An outage is already reported by the reconcile.
    const isKnown = isApiStatus(error, 409) || claim.reason === errorCatalogue.cluster_unavailable.reason;
    this.#deps.logger[isKnown ? 'debug' : 'warn']({ key, ...errorFields(error) }, statusNotWritten);
    return retryAfter(error);
  }

  #recordEvents(key: string, resource: T, before: StatusOf<T> | undefined, { claim, progress, side }: Claims): void {
    const { action } = this.#deps.rules;
    const isDue =
      claim.progress === 'waiting'
        ? this.#announceWait(key, before, claim)
        : this.#announceRest(key, before, { claim, progress });
    // The Event about Ready has the notices as well.
    if (isDue) this.#recordEvent(resource, readyEvent(claim, action));
    else
      for (const notice of this.#newNotices(key, resource, before, claim))
        this.#recordEvent(resource, noticeEvent(notice, action));
    if (side !== undefined && reasonOf(before, side.claim.type) !== side.claim.reason) {
      this.#recordEvent(resource, sideEvent(side));
    }
  }

  /** The notices that the message did not have before. */
  #newNotices(
    key: string,
    { metadata: { generation } }: T,
    before: StatusOf<T> | undefined,
    { notices = [] }: ReadyClaim,
  ): readonly Notice[] {
    const former = before?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
    return notices.filter(
      ({ reason, message }) => !former.includes(message) && this.#noticePace.take(key, reason, generation),
    );
  }

  /** Whether a claim that waits for others needs an Event. What a new resource waits for may come within seconds. */
  #announceWait(key: string, before: StatusOf<T> | undefined, { reason }: ReadyClaim): boolean {
    const present = reasonOf(before, 'Ready');
    const known = this.#announced.get(key);
    const announced = known === undefined ? present : known.reason;
    const isDue = announced !== undefined && announced !== reason;
    // Another leader may have reported this reason without an Event.
    if (known !== undefined || present !== reason) this.#announced.set(key, { reason: isDue ? reason : announced });
    return isDue;
  }

  /** Whether any other claim needs an Event: if the reason is new, or if the resource is newly stalled. */
  #announceRest(
    key: string,
    before: StatusOf<T> | undefined,
    { claim, progress }: Pick<Claims, 'claim' | 'progress'>,
  ): boolean {
    const known = this.#announced.get(key);
    this.#announced.delete(key);
    const announced = known === undefined ? reasonOf(before, 'Ready') : known.reason;
    const isFirstSuccess = claim.progress === 'done' && announced === undefined;
    if (isFirstSuccess && this.#deps.rules.isFirstSuccessQuiet === true) return false;
    // An outage that lasts is not reported twice.
    const isNewlyStalled = claim.progress === 'stalled' && progress !== 'reconciling' && !isStalled(before);
    return announced !== claim.reason || (isNewlyStalled && known === undefined);
  }

  // Best effort, and nothing waits for it: the status says the same.
  #recordEvent(resource: T, event: Omit<ObjectEvent, 'at'>): void {
    const { client, events, clock, logger, rules } = this.#deps;
    recordEvent({ client, ...events }, rules.kind, resource, { ...event, at: clock.now() }).catch((error: unknown) => {
      const { namespace = '', name } = resource.metadata;
      logger.debug({ key: `${namespace}/${name}`, ...errorFields(error) }, eventNotRecorded);
    });
  }
}

function isAbout<O>({ uid, generation }: Report<O>, { metadata }: Resource): boolean {
  return metadata.uid === uid && metadata.generation === generation;
}

/** The merge patch from one status to another, with null for removed fields; undefined if nothing differs. */
export function statusPatch(present: object | undefined, next: object): Record<string, unknown> | undefined {
  const before = new Map<string, unknown>(Object.entries(present ?? {}));
  const after = new Map<string, unknown>(Object.entries(next));
  const fields = new Set([...before.keys(), ...after.keys()]);
  const differing = [...fields].filter((field) => !isDeepStrictEqual(before.get(field), after.get(field)));
  if (differing.length === 0) return undefined;
  return Object.fromEntries(differing.map((field) => [field, mergedInto(before.get(field), after.get(field))]));
}

/** The part of a merge patch (RFC 7396) from one value to another. Fields that an object no longer has need a null. */
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

function isStalled(status: Resource['status']): boolean {
  return status?.conditions?.some(({ type, status: now }) => type === 'Stalled' && now === 'True') === true;
}

function noticeEvent({ reason, message }: Notice, action: string): Omit<ObjectEvent, 'at'> {
  return { type: 'Warning', reason, action, note: message };
}

function readyEvent({ progress, reason, message, advance }: ReadyClaim, action: string): Omit<ObjectEvent, 'at'> {
  const isAdvancing = progress === 'reconciling' && advance !== undefined;
  const type = progress === 'done' || progress === 'suspended' || isAdvancing ? 'Normal' : 'Warning';
  return { type, reason, action, note: message };
}

function sideEvent({ claim: { reason, message }, action, isTrouble }: SideClaim): Omit<ObjectEvent, 'at'> {
  return { type: isTrouble ? 'Warning' : 'Normal', reason, action, note: message };
}
