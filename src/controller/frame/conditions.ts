import type { Condition } from '../generated/condition.ts';

export type { Condition } from '../generated/condition.ts';

/** The content of a condition. */
export type ConditionClaim = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** A condition besides Ready whose changes of reason also cause an Event. */
export interface SideClaim {
  readonly claim: ConditionClaim;
  /** The action of the Event: one word. */
  readonly action: string;
  readonly isTrouble: boolean;
}

/** What the controller does next with a resource. */
export type Progress =
  /** The resource is in its desired state. */
  | 'done'
  /** Only a person can change it, or it was in progress for too long. The controller still continues with an event. */
  | 'stalled'
  /** Something that others supply is missing. Stalled after 30 s; for a new resource, only then an Event. */
  | 'waiting'
  /** The controller continues, with an event or after a delay. Stalled after 5 minutes. */
  | 'reconciling'
  /** spec.suspend is true. */
  | 'suspended';

export interface ReadyClaim {
  readonly progress: Progress;
  /** CamelCase; a constant, never data. */
  readonly reason: string;
  /** Why, and what to do about it. It contains names, never values. */
  readonly message: string;
  /** Changes while the work advances. The time until it counts as Stalled then starts again. */
  readonly advance?: string;
  /** Parts of the message that an Event reports once, when the message begins to have them. */
  readonly notices?: readonly Notice[];
}

export interface Notice {
  /** The reason of the Event, CamelCase; a constant, never data. */
  readonly reason: string;
  readonly message: string;
}

/**
 * The three conditions of every reconciling kind, as kstatus defines them. If the resource is not in its desired state, one of
 * Reconciling and Stalled is true. Without one of them, tools would wait for it for ever. That one repeats the message of
 * Ready, because tools that know kstatus show only its message.
 */
export function conditionClaims({ progress, reason, message }: ReadyClaim): readonly ConditionClaim[] {
  const flag = (type: string, holds: boolean): ConditionClaim =>
    holds
      ? { type, status: 'True', reason, message }
      : { type, status: 'False', reason: calmReasons[progress], message: '' };
  return [
    { type: 'Ready', status: progress === 'done' ? 'True' : 'False', reason, message },
    flag('Reconciling', progress === 'waiting' || progress === 'reconciling'),
    flag('Stalled', progress === 'stalled' || progress === 'suspended'),
  ];
}

const calmReasons: Readonly<Record<Progress, string>> = {
  done: 'UpToDate',
  stalled: 'WaitsForChange',
  waiting: 'InProgress',
  reconciling: 'InProgress',
  suspended: 'Suspended',
};

export interface ConditionContext {
  /** The conditions in the resource's status. */
  readonly present: readonly Condition[] | undefined;
  /** The conditions that the controller wrote last; undefined after a start. */
  readonly known: readonly Condition[] | undefined;
  readonly generation: number;
  readonly now: string;
}

/**
 * Merges new conditions into the present ones. A transition time changes only with the condition's status. Conditions of
 * other types are kept at the end.
 */
export function mergeConditions(claims: readonly ConditionClaim[], context: ConditionContext): Condition[] {
  const { present = [], known = [], generation, now } = context;
  const own = claims.map((claim): Condition => {
    const same = [...present, ...known].filter(({ type, status }) => type === claim.type && status === claim.status);
    const lastTransitionTime = earliest(same.map((condition) => condition.lastTransitionTime)) ?? now;
    return { ...claim, observedGeneration: generation, lastTransitionTime };
  });
  const others = present.filter(({ type }) => !claims.some((claim) => claim.type === type));
  return [...own, ...others];
}

/**
 * The earliest of several times. If the status and the controller's state differ, the earliest time undoes a manual change,
 * and two controllers agree instead of correcting each other forever.
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
