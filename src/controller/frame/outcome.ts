import type { DomainError } from '../../domain/errors/domain-error.ts';
import { type ConditionClaim, type ReadyClaim, conditionClaims, kubeTime, mergeConditions } from './conditions.ts';
import { failureClaim, nextAfter } from './failure.ts';
import type { Resource, StatusOf } from './resource.ts';
import type { Next } from './work-queue.ts';

type OwnField = 'observedGeneration' | 'conditions';

/** Fields of a status besides observedGeneration and conditions. Absent fields stay; undefined removes a field. */
export type StatusFields<T extends Resource> = {
  readonly [Field in keyof StatusOf<T>]?: (Field extends OwnField ? never : StatusOf<T>[Field]) | undefined;
};

/** The part of the outcome of a reconcile that all kinds report. */
export interface ReportedOutcome {
  /** The conditions Ready, Reconciling and Stalled. */
  readonly claim: ReadyClaim;
  /** When to reconcile again without an event. Default: never. */
  readonly next?: Next;
  /** Whether the failure is retried. Then not all dependencies of the result are known. */
  readonly isTransient?: boolean;
}

/** Nothing is reported yet: the status stays unchanged. */
export interface DeferredOutcome {
  readonly isDeferred: true;
  readonly next: Next;
}

/** The outcome of a reconcile of a simple kind. */
export interface Outcome<T extends Resource> extends ReportedOutcome {
  readonly fields?: StatusFields<T>;
  /** Conditions that only this kind has. Absent ones stay unchanged. */
  readonly conditions?: readonly ConditionClaim[];
}

/** The outcome of an error: its reason and detail as the condition, and when to reconcile again. */
export function failureOutcome<T extends Resource>(error: DomainError, fields: StatusFields<T> = {}): Outcome<T> {
  return { claim: failureClaim(error), fields, next: nextAfter(error), isTransient: isTransient(error) };
}

/** Whether an error is retried. */
export function isTransient(error: DomainError): boolean {
  return error.description.effect === 'retry';
}

/** The status after an outcome; `known` is the status that the controller wrote last. */
export function nextStatus<T extends Resource>(
  { metadata, status }: T,
  known: StatusOf<T> | undefined,
  { claim, fields = {}, conditions = [] }: Outcome<T>,
  nowMs: number,
): StatusOf<T> {
  const generation = metadata.generation ?? 0;
  const context = { present: status?.conditions, known: known?.conditions, generation, now: kubeTime(nowMs) };
  const all = { ...status, ...fields };
  return {
    ...Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)),
    observedGeneration: generation,
    conditions: mergeConditions([...conditionClaims(claim), ...conditions], context),
  };
}
