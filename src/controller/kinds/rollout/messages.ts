import type { HeldData } from './model.ts';
import { markAnnotation } from './restart-mark.ts';
import { type Target, nameOf } from './targets.ts';

/**
 * Every text that rollouts write into conditions, Events and statuses. Most of them are clauses: a condition puts the
 * name of the workload in front.
 */

const maxNamed = 4;
const rules = 'charts/keyframe/files/rollout-rules.yaml';
const rulesAdvice = `apply the rules of ${rules} to the controller's account, in this namespace or in all`;

/** The revision of what is held. */
function revisionOf({ revision, told }: HeldData): string {
  return told ?? `revision ${revision}`;
}

// The whole condition.

export const rolloutsDisabled =
  'spec.rollout asks for restarts, which this installation does not allow; the Secret is kept in step all the same. ' +
  'Set KEYFRAME_ROLLOUTS=true for the controller and give its account the rules of ' +
  `${rules}, or take spec.rollout away.`;

export const suspended = 'spec.suspend is true: no workload is watched or restarted.';

export const secretNotSynced =
  'What the Secret holds is not known yet: the workloads are looked at once the condition Ready is true.';

export function allConverged(targets: readonly Target[], held: HeldData): string {
  return `All pods of ${targets.map(nameOf).join(', ')} run with the data of ${revisionOf(held)}.`;
}

export function notConverged(clauses: readonly { readonly target: Target; readonly message: string }[]): string {
  const named = clauses.slice(0, maxNamed).map(({ target, message }) => `${nameOf(target)} ${message}.`);
  const more = clauses.length > maxNamed ? [`So it is with ${clauses.length - maxNamed} more.`] : [];
  return [...named, ...more].join(' ');
}

// How a workload is.

export const forbidden = `cannot be watched: ${rulesAdvice}`;

export const unseen = 'is about to be looked at';

export const notFound = 'is not in this namespace: make it, or take it out of spec.rollout.targets';

export function rollingOut(progress: string): string {
  return `rolls out: ${progress}`;
}

export function waiting(progress: string): string {
  return `waits: ${progress}`;
}

/** `timeout` is the one that has passed, if it is what the workload is stuck by. */
export function stuck(progress: string, advice: string, timeout?: string): string {
  return `is stuck${timeout === undefined ? '' : ` after ${timeout}`}: ${progress}; ${advice}`;
}

// What becomes of a workload's restart.

export function restartNow(held: HeldData): string {
  return `${restartOf(held)} now`;
}

export function restartSoon(held: HeldData): string {
  return `${restartOf(held)} in a moment`;
}

export function restartAfterLook(held: HeldData, unseenTarget: Target): string {
  return `${restartOf(held)} when ${nameOf(unseenTarget)} has been looked at`;
}

export function restartAfterRollout(held: HeldData, timeout: string, progress: string): string {
  return `${restartOf(held)} when the rollout under way is done, or has taken ${timeout}: ${progress}`;
}

function restartOf(held: HeldData): string {
  return `is to be restarted for ${revisionOf(held)}`;
}

export function restartBlocked(held: HeldData, blocker: string): string {
  return `is not restarted for ${revisionOf(held)} yet, for ${blocker}`;
}

/** What it waits for: another workload has failed, of which `cause` says more if it is known. */
export function failedBefore(target: Target, revision: number, cause: string | undefined): string {
  const name = nameOf(target);
  const data = revision === 0 ? '' : ` with the data of revision ${revision}`;
  return (
    `${name} has failed${data}${cause === undefined ? '' : ` (${cause})`}: put it right, write a revision ` +
    `that mends it (${name} is restarted for that first), or take it out of spec.rollout.targets`
  );
}

/** What it waits for: another workload was restarted before it. */
export function restartedBefore(target: Target, progress: string): string {
  return `${nameOf(target)} was restarted before it, and has to converge first: ${progress}`;
}

export function restartRefused(answer: string): string {
  return `cannot be restarted, the API server answered ${answer}: ${rulesAdvice}, or see which admission policy refuses it`;
}

export function restartUndone(syncName: string, times: number): string {
  return (
    `was restarted ${times} times for the same data and lost the annotation ${markAnnotation(syncName)} of its pod ` +
    'template each time: have whatever takes it away leave it; it is restarted again, ever more rarely'
  );
}

// The progress of a workload's pods.

export const changeUnobserved = 'its controller has not seen the change of its pod template yet';

export function podsUpToDate(count: number, wanted: number): string {
  return `${count} of ${wanted} pods are up to date and available`;
}

export function heldBy(progress: string, hold: string): string {
  return `${progress}; ${hold}`;
}

export function deadlineOver(progress: string): string {
  return `${progress}; its progressDeadlineSeconds are over`;
}

export function paused(name: string): string {
  return `it is paused: \`kubectl rollout resume deployment/${name}\` goes on`;
}

export const onDelete = 'its updateStrategy is OnDelete: delete the other pods, and it makes them anew';

export function partitioned(partition: number): string {
  return `the partition of its updateStrategy (${partition}) keeps the others: lower it`;
}

// Why a workload is stuck.

export const convergedBefore = 'all workloads have converged with the same data before';

export const templateChanged = 'its pod template is another one than when it converged last';

export const noPodFails = 'none of its new pods shows a failure';

export function podState(reason: string): string {
  return `a pod: ${reason}`;
}

export function containerState(name: string, reason: string): string {
  return `container ${name}: ${reason}`;
}

export function podsForbidden(answer: string): string {
  return `its pods cannot be looked at, the API server answered ${answer}: ${rulesAdvice}`;
}

/** For the record of what is given up. */
export function failureOf(target: Target, cause: string): string {
  return `${nameOf(target)}, ${cause}`;
}

// What follows from a workload's being stuck.

const look = 'see why its pods do not become ready (kubectl describe)';
const again = 'a further change of the data restarts it again';

export const causeUnknown = `${look}; ${again}`;

export function notTheData(why: string, onFailure: 'Hold' | 'Rollback'): string {
  const effects =
    onFailure === 'Rollback'
      ? 'no other workload waits for it, and the Secret is not taken back'
      : 'no other workload waits for it';
  return `this is not taken for the data's doing (${why}), so ${effects}; ${look}; ${again}`;
}

export function othersWait(cause: string): string {
  return `${cause}; no other workload is restarted for a further change before it has converged; ${look}; ${again}`;
}

export function rollbackImpossible(cause: string, hindrance: string): string {
  return `${cause}; the Secret cannot be taken back: ${hindrance}; ${look}; ${again}`;
}

export function rollbackDue(cause: string): string {
  return `${cause}; the Secret is about to be taken back to the data with which all workloads converged last`;
}

// Why a Secret cannot be taken back.

export const podsUnseen = 'so nobody knows whether the data is the reason';

export const neverConverged = 'its workloads have not converged with any data yet';

export function notAmongConverged(target: Target): string {
  return `${nameOf(target)} was not among its workloads when they converged last`;
}
