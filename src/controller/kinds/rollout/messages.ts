import type { HeldData } from './model.ts';
import { markAnnotation } from './restart-mark.ts';
import { type Target, nameOf } from './targets.ts';

/**
 * Every sentence that rollouts write into conditions, Events, statuses and the log. Most of them are clauses: the condition
 * Converged puts the name of the workload in front.
 */

const maxNamed = 4;
const rules = 'charts/keyframe/files/rollout-rules.yaml';
const rulesAdvice = `grant the controller's account the rules of ${rules}, in this namespace or in all`;

function revisionOf({ revision, label }: HeldData): string {
  return label ?? `revision ${revision}`;
}

// The whole condition.

export const rolloutsDisabled =
  'spec.rollout needs workload restarts, which are disabled in this namespace. The Secret is still synced. ' +
  "Set rollouts: true in the chart's values, and add the namespace to rolloutNamespaces if that list is not empty. " +
  `Without the chart, set KEYFRAME_ROLLOUTS=true for the controller and grant its account the rules of ${rules}. ` +
  'Or remove spec.rollout.';

export const suspended =
  'spec.suspend is true: no workload is watched or restarted. Set spec.suspend to false to resume.';

export const secretNotSynced =
  'The data of the Secret is not known yet. The workloads are checked once the condition Ready is True.';

export function allConverged(targets: readonly Target[], held: HeldData): string {
  return `All pods of ${targets.map(nameOf).join(', ')} run with the data of ${revisionOf(held)}.`;
}

export function notConverged(clauses: readonly { readonly target: Target; readonly message: string }[]): string {
  const named = clauses.slice(0, maxNamed).map(({ target, message }) => `${nameOf(target)} ${message}.`);
  const rest = clauses.length - maxNamed;
  const more = rest > 0 ? [`${rest} more ${rest === 1 ? 'workload has' : 'workloads have'} not converged.`] : [];
  return [...named, ...more].join(' ');
}

// The state of a workload.

export const forbidden = `cannot be watched because the API server denies it: ${rulesAdvice}`;

export const unseen = 'has not been read yet';

export const notFound = 'does not exist in this namespace: create it, or remove it from spec.rollout.targets';

export function rollingOut(progress: string): string {
  return `is rolling out: ${progress}`;
}

export function waiting(progress: string): string {
  return `is waiting: ${progress}`;
}

/** `timeout` is the one that has passed, if the workload is stuck because of it. */
export function stuck(progress: string, advice: string, timeout?: string): string {
  return `is stuck${timeout === undefined ? '' : ` after ${timeout}`}: ${progress}; ${advice}`;
}

// The restart of a workload.

export function restartNow(held: HeldData): string {
  return `is being restarted for ${revisionOf(held)}`;
}

export function restartSoon(held: HeldData): string {
  return `${restartOf(held)} in a moment`;
}

export function restartAfterRead(held: HeldData, unseenTarget: Target): string {
  return `${restartOf(held)} once ${nameOf(unseenTarget)} has been read`;
}

export function restartAfterRollout(held: HeldData, timeout: string, progress: string): string {
  return `${restartOf(held)} once its current rollout has finished or has taken ${timeout}: ${progress}`;
}

function restartOf(held: HeldData): string {
  return `will be restarted for ${revisionOf(held)}`;
}

export function restartBlocked(held: HeldData, blocker: string): string {
  return `is not restarted for ${revisionOf(held)} yet because ${blocker}`;
}

/** The blocker: another workload failed. `cause` is the failure of its pods, if known. */
export function failedBefore(target: Target, revision: number, cause: string | undefined): string {
  const name = nameOf(target);
  const data = revision === 0 ? '' : ` with the data of revision ${revision}`;
  return (
    `${name} failed${data}${cause === undefined ? '' : ` (${cause})`}: fix ${name}, write a revision that fixes it ` +
    '(it is restarted first), or remove it from spec.rollout.targets'
  );
}

/** The blocker: another workload was restarted first. */
export function restartedBefore(target: Target, progress: string): string {
  return `${nameOf(target)} was restarted first and has not converged: ${progress}`;
}

export function restartRefused(status: string): string {
  return `cannot be restarted because the API server returned ${status}: ${rulesAdvice}, or check the admission policies`;
}

export function restartUndone(syncName: string, times: number): string {
  return (
    `was restarted ${times} times for the same data, and each time something removed the annotation ` +
    `${markAnnotation(syncName)} from its pod template: configure that tool to keep the annotation; the controller retries ` +
    'with exponential backoff'
  );
}

// The progress of a workload's pods.

export const changeUnobserved = 'its controller has not observed the new pod template yet';

export function podsUpToDate(count: number, wanted: number): string {
  return `${count} of ${wanted} pods are up to date and available`;
}

export function heldBy(progress: string, hold: string): string {
  return `${progress}; ${hold}`;
}

export function deadlineOver(progress: string): string {
  return `${progress}; its progressDeadlineSeconds have passed`;
}

export function paused(name: string, namespace: string): string {
  return `it is paused: to resume it, run \`kubectl rollout resume -n ${namespace} deployment/${name}\``;
}

export const onDelete = 'its updateStrategy is OnDelete: delete the old pods to replace them';

export function partitioned(partition: number): string {
  return `the partition of its updateStrategy (${partition}) keeps the old pods: lower it`;
}

// Why a workload is stuck.

export const convergedBefore = 'all workloads converged with the same data before';

export const templateChanged = 'its pod template has changed since it last converged';

export const noPodFails = 'none of its new pods reports a failure';

export function podState(reason: string): string {
  return `a pod: ${reason}`;
}

/** Part of a record in the Secret: its form never changes. */
export function containerState(name: string, reason: string): string {
  return `container ${name}: ${reason}`;
}

export function podsForbidden(status: string): string {
  return `its pods cannot be read because the API server returned ${status}: ${rulesAdvice}`;
}

/** Part of a record in the Secret: its form never changes. */
export function failureOf(target: Target, cause: string): string {
  return `${nameOf(target)}, ${cause}`;
}

// What follows for a stuck workload.

const again = 'the next change of the data restarts it';

function inspect(namespace: string): string {
  return `to see why its pods are not ready, run \`kubectl describe pods -n ${namespace}\``;
}

export function causeUnknown(namespace: string): string {
  return `${inspect(namespace)}; ${again}`;
}

export function notTheData(why: string, onFailure: 'Hold' | 'Rollback', namespace: string): string {
  const effects =
    onFailure === 'Rollback'
      ? 'no other workload waits for it and the Secret is not rolled back'
      : 'no other workload waits for it';
  return `the data does not count as the cause (${why}), so ${effects}; ${inspect(namespace)}; ${again}`;
}

export function othersWait(cause: string, namespace: string): string {
  return `${cause}; no other workload is restarted for a further change until it has converged; ${inspect(namespace)}; ${again}`;
}

export function rollbackImpossible(cause: string, obstacle: string, namespace: string): string {
  return `${cause}; the Secret cannot be rolled back: ${obstacle}; ${inspect(namespace)}; ${again}`;
}

export function rollbackDue(cause: string): string {
  return `${cause}; the Secret is being rolled back to the data with which all workloads last converged`;
}

// Why a Secret cannot be rolled back.

export const podsUnseen = 'it is unknown whether the data is the cause';

export const neverConverged = 'its workloads have not all converged with any data yet';

export function notAmongConverged(target: Target): string {
  return `${nameOf(target)} was not among its workloads when they last converged`;
}

// The log.

export const podsInspected = 'inspected the pods of a stuck workload';

export const podsNotInspected = 'could not inspect the pods of a stuck workload; retrying';

export const restarted = 'restarted a workload because the data of its Secret changed';

export const notRestarted = 'could not restart a workload; retrying';
