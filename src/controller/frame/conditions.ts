import type { Condition } from '../generated/condition.ts';

export type { Condition } from '../generated/condition.ts';

/** What a condition must say now. */
export type ConditionClaim = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition beside Ready whose changes of reason are reported by an Event, too. */
export interface SideClaim {
  readonly claim: ConditionClaim;
  /** What was done: one word. */
  readonly action: string;
  readonly isTrouble: boolean;
}

/** What the controller does next about a resource. */
export type Progress =
  /** All is as it should be. */
  | 'done'
  /** Nothing more is done until the resource itself changes. */
  | 'stalled'
  /** Goes on by itself: with an event, or after a while. */
  | 'reconciling'
  /** Nothing is done because the resource says so. */
  | 'suspended';

export interface ReadyClaim {
  readonly progress: Progress;
  /** CamelCase, from the code and never from data. */
  readonly reason: string;
  /** Why, and what to do about it; in names, never in values. */
  readonly message: string;
  /** Whether the status alone reports this, and no Event. */
  readonly isQuiet?: boolean;
}

/**
 * The three conditions of every reconciling kind, as kstatus reads them: Ready is what people wait for; Reconciling and
 * Stalled are true only while something is not as it should be.
 */
export function conditionClaims({ progress, reason, message }: ReadyClaim): readonly ConditionClaim[] {
  const flag = (type: string, holds: boolean): ConditionClaim =>
    holds
      ? { type, status: 'True', reason, message }
      : { type, status: 'False', reason: calmReasons[progress], message: '' };
  return [
    { type: 'Ready', status: progress === 'done' ? 'True' : 'False', reason, message },
    flag('Reconciling', progress === 'reconciling'),
    flag('Stalled', progress === 'stalled'),
  ];
}

const calmReasons: Readonly<Record<Progress, string>> = {
  done: 'UpToDate',
  stalled: 'WaitsForChange',
  reconciling: 'InProgress',
  suspended: 'Suspended',
};

export interface ConditionContext {
  /** As the resource has them. */
  readonly present: readonly Condition[] | undefined;
  /** As the controller wrote them last; undefined after a start. */
  readonly known: readonly Condition[] | undefined;
  readonly generation: number;
  readonly now: string;
}

/**
 * Conditions with what they must say now. A transition time changes only with the condition's status. Conditions of
 * other types are kept, behind ours.
 */
export function mergeConditions(claims: readonly ConditionClaim[], context: ConditionContext): Condition[] {
  const { present = [], known = [], generation, now } = context;
  const ours = claims.map((claim): Condition => {
    const same = [...present, ...known].filter(({ type, status }) => type === claim.type && status === claim.status);
    const lastTransitionTime = earliest(same.map((condition) => condition.lastTransitionTime)) ?? now;
    return { ...claim, observedGeneration: generation, lastTransitionTime };
  });
  const others = present.filter(({ type }) => !claims.some((claim) => claim.type === type));
  return [...ours, ...others];
}

/**
 * The earliest of some times. Where the resource and the controller's memory differ about when something began, this
 * undoes a time that was moved by hand, and lets two controllers agree instead of correcting each other for ever.
 */
export function earliest(times: readonly (string | undefined)[]): string | undefined {
  const valid = times.filter((time) => time !== undefined && !Number.isNaN(Date.parse(time)));
  return valid.reduce(
    (first, time) => (first === undefined || Date.parse(time ?? '') < Date.parse(first) ? time : first),
    undefined,
  );
}

/** A time as Kubernetes writes it: RFC 3339 in whole seconds. */
export function kubeTime(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}
