import * as messages from './messages.ts';
import type { PodsVerdict } from './pods.ts';
import type { RestartMark } from './restart-mark.ts';
import type { Target, Workload } from './targets.ts';
import type { ConvergedRecord } from './model.ts';

/** Whether a workload is stuck because of the data that it was restarted for. */
export type Failure =
  /** Its pods have not been observed. */
  | { readonly kind: 'unknown' }
  /** Nothing but the data changed, and a pod fails with it. */
  | { readonly kind: 'data'; readonly reason: string }
  /** `why` is a clause. */
  | { readonly kind: 'other'; readonly why: string }
  /** The API server denies access to its pods. */
  | { readonly kind: 'unseen'; readonly reason: string };

export interface StuckWorkload {
  readonly target: Target;
  readonly workload: Workload;
  /** What its pods were restarted for. */
  readonly mark: RestartMark;
  readonly converged: ConvergedRecord | undefined;
}

/**
 * Judges why a workload is stuck. The data does not count as the cause if something else changed as well, or if a pod cannot
 * be started at all. `pods` is the verdict on its pods, if they were observed.
 */
export function attribute(
  { target, workload, mark, converged }: StuckWorkload,
  pods: PodsVerdict | undefined,
): Failure {
  if (mark.data === converged?.data) {
    return { kind: 'other', why: messages.convergedBefore };
  }
  const before = convergedTemplate(converged, target);
  if (before !== undefined && before !== workload.templateDigest) {
    return { kind: 'other', why: messages.templateChanged };
  }
  if (pods === undefined) return { kind: 'unknown' };
  if (pods.kind === 'forbidden') return { kind: 'unseen', reason: pods.reason };
  return pods.kind === 'failing' ? { kind: 'data', reason: pods.reason } : { kind: 'other', why: pods.reason };
}

/** The digest of the pod template with which a workload last converged; undefined if none is recorded. */
export function convergedTemplate(converged: ConvergedRecord | undefined, { kind, name }: Target): string | undefined {
  return converged?.targets?.find((target) => target.kind === kind && target.name === name)?.template;
}
