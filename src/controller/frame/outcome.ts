import type { DomainError } from '../../domain/errors/domain-error.ts';
import { type ConditionClaim, type ReadyClaim, conditionClaims, kubeTime, mergeConditions } from './conditions.ts';
import { failureClaim, nextAfter } from './failure.ts';
import type { Resource, StatusOf } from './resource.ts';
import type { Next } from './work-queue.ts';

type OwnField = 'observedGeneration' | 'conditions';

/** Fields of a status beside observedGeneration and conditions: what is not named stays, undefined takes a field away. */
export type StatusFields<T extends Resource> = {
  readonly [Field in keyof StatusOf<T>]?: (Field extends OwnField ? never : StatusOf<T>[Field]) | undefined;
};

/** What one reconcile came to, as far as all kinds report it. */
export interface ReportedOutcome {
  /** What Ready, Reconciling and Stalled report. */
  readonly claim: ReadyClaim;
  /** When to reconcile again although no event asks for it; default: never. */
  readonly next?: Next;
  /** Whether a failure passes by itself: not all that the result rests on was looked at. */
  readonly isTransient?: boolean;
}

/** Nothing is reported yet: the status stays as it is. */
export interface DeferredOutcome {
  readonly isDeferred: true;
  readonly next: Next;
}

/** What one reconcile of a simple kind came to. */
export interface Outcome<T extends Resource> extends ReportedOutcome {
  readonly fields?: StatusFields<T>;
  /** Conditions of the kind's own; those that are not named stay as they are. */
  readonly conditions?: readonly ConditionClaim[];
}

/** What an error comes to: its reason and detail as the condition, and when to come back. It can report fields as well. */
export function failureOutcome<T extends Resource>(error: DomainError, fields: StatusFields<T> = {}): Outcome<T> {
  return { claim: failureClaim(error), fields, next: nextAfter(error), isTransient: isTransient(error) };
}

/** Whether a failure passes by itself. */
export function isTransient(error: DomainError): boolean {
  return error.description.effect === 'retry';
}

/** The status after an outcome; `known` is the one that the controller wrote last. */
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
