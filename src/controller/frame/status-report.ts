import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, errorCatalogue } from '../../domain/error-catalogue.ts';
import { isApiStatus } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/client.ts';
import { type ResourceKind, patchStatus } from '../../kube/custom-resources.ts';
import { type EventDeps, type ObjectEvent, recordEvent } from '../../kube/events.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../lib/logger.ts';
import type { ConditionClaim, ReadyClaim } from './conditions.ts';
import { retryAfter } from './failure.ts';
import type { OwnWrites } from './own-writes.ts';
import type { Resource, StatusOf } from './resource.ts';
import type { Next } from './work-queue.ts';

/** What is remembered of a resource between two reports. */
export interface ReportMemory<T extends Resource> {
  readonly resource: OwnWrites<T>;
  /** The status that the controller wrote or found right last. */
  status: StatusOf<T> | undefined;
  /** The reason that the last reconcile came to, whether or not the status tells it yet. */
  reason: string | undefined;
  /** Why the last reconcile did not succeed. */
  failure: ErrorCode | undefined;
}

export interface Reported<T extends Resource> {
  readonly key: string;
  readonly resource: T;
  readonly memory: ReportMemory<T>;
}

export interface Report<T extends Resource> {
  readonly claim: ReadyClaim;
  /** The whole status as it shall be. */
  readonly status: StatusOf<T>;
  /** A condition beside Ready whose changes of reason are told by an Event, too. */
  readonly also?: SideClaim | undefined;
  readonly next: Next;
  /** Called when the status tells it. */
  readonly onTold: () => void;
}

export interface SideClaim {
  readonly claim: ConditionClaim;
  /** What was done: one word. */
  readonly action: string;
  readonly isTrouble: boolean;
}

export interface StatusReporterDeps {
  readonly kind: ResourceKind;
  /** What Events say was done: one word. */
  readonly action: string;
  readonly client: Pick<KubeClient, 'request'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Omit<EventDeps, 'client'>;
}

/** Tells what a reconcile came to: the log and, where it differs, the status by one patch, and an Event. */
export class StatusReporter<T extends Resource> {
  readonly #deps: StatusReporterDeps;

  constructor(deps: StatusReporterDeps) {
    this.#deps = deps;
  }

  /** Writes the status where it differs; answers when to come back. Never throws for what the world does. */
  async report(reported: Reported<T>, report: Report<T>): Promise<Next> {
    const { key, resource, memory } = reported;
    const { claim, status, next, also, onTold } = report;
    const before = memory.status ?? resource.status;
    const reasonBefore = reasonOf(before, 'Ready');
    this.#log(key, claim, memory.reason ?? reasonBefore);
    memory.reason = claim.reason;
    try {
      await this.#patch(reported, status);
    } catch (error) {
      return this.#failed(reported, error, report);
    }
    memory.status = status;
    onTold();
    if (reasonBefore !== claim.reason) this.#recordEvent(resource, readyEvent(claim, this.#deps.action));
    if (also !== undefined && reasonOf(before, also.claim.type) !== also.claim.reason) {
      this.#recordEvent(resource, sideEvent(also));
    }
    return next;
  }

  async #patch({ resource, memory }: Reported<T>, status: StatusOf<T>): Promise<void> {
    const patch = statusPatch(resource.status, status);
    if (patch === undefined) return;
    const { client, kind } = this.#deps;
    const { namespace, name, resourceVersion } = resource.metadata;
    const patched = await patchStatus(client, kind, { resource: { namespace, name }, resourceVersion, status: patch });
    memory.resource.record(resourceVersion, {
      ...resource,
      metadata: { ...resource.metadata, resourceVersion: patched.resourceVersion },
      status,
    });
  }

  #failed({ key, memory }: Reported<T>, error: unknown, { next, claim }: Report<T>): Next {
    // Deleted meanwhile.
    if (isApiStatus(error, 404)) return next;
    // A conflict heals itself; of an API server that fails the reconcile has told already.
    // The comparison after an outage shall find it.
    if (!isApiStatus(error, 409)) memory.failure ??= 'cluster_unavailable';
    const isKnown = isApiStatus(error, 409) || claim.reason === errorCatalogue.cluster_unavailable.reason;
    this.#deps.logger[isKnown ? 'debug' : 'warn'](
      { key, ...errorFields(error) },
      'the status could not be written; it is tried again',
    );
    return retryAfter(error);
  }

  #log(key: string, { progress, reason, message }: ReadyClaim, reasonBefore: string | undefined): void {
    const level =
      reason === reasonBefore ? 'debug' : progress === 'reconciling' || progress === 'stalled' ? 'warn' : 'info';
    this.#deps.logger[level]({ kind: this.#deps.kind.kind, key, reason }, message);
  }

  // Best effort, and nothing waits for it: the status tells the same.
  #recordEvent(resource: T, told: Omit<ObjectEvent, 'at'>): void {
    const { client, events, clock, logger, kind } = this.#deps;
    recordEvent({ client, ...events }, kind, resource, { ...told, at: clock.now() }).catch((error: unknown) => {
      const { namespace = '', name } = resource.metadata;
      logger.debug({ key: `${namespace}/${name}`, ...errorFields(error) }, 'an Event was not recorded');
    });
  }
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

function reasonOf(status: Resource['status'], conditionType: string): string | undefined {
  return status?.conditions?.find(({ type }) => type === conditionType)?.reason;
}

function readyEvent({ progress, reason, message }: ReadyClaim, action: string): Omit<ObjectEvent, 'at'> {
  const type = progress === 'done' || progress === 'suspended' ? 'Normal' : 'Warning';
  return { type, reason, action, note: message };
}

function sideEvent({ claim: { reason, message }, action, isTrouble }: SideClaim): Omit<ObjectEvent, 'at'> {
  return { type: isTrouble ? 'Warning' : 'Normal', reason, action, note: message };
}
