import * as messages from './messages.ts';
import type { PodsVerdict } from './pods.ts';
import type { RestartMark } from './restart-mark.ts';
import type { Target, Workload } from './targets.ts';
import type { ConvergedRecord } from './model.ts';

/** Whether a workload that is stuck is so because of the data that it was restarted for. */
export type Failure =
  /** Its pods have not been looked at. */
  | { readonly kind: 'unknown' }
  /** Nothing but the data changed, and a pod fails with it. */
  | { readonly kind: 'data'; readonly reason: string }
  /** `why` is a clause. */
  | { readonly kind: 'other'; readonly why: string }
  /** Its pods may not be looked at. */
  | { readonly kind: 'unseen'; readonly reason: string };

export interface StuckWorkload {
  readonly target: Target;
  readonly workload: Workload;
  /** What its pods were restarted for. */
  readonly mark: RestartMark;
  readonly converged: ConvergedRecord | undefined;
}

/**
 * Judges what a stuck workload fails of. What changed beside the data, and what keeps a pod from being started at all, is
 * no fault of the data. `pods` is what its pods tell, where they were looked at.
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

/** The digest of the pod template that a workload converged with last; undefined where none is recorded. */
export function convergedTemplate(converged: ConvergedRecord | undefined, { kind, name }: Target): string | undefined {
  return converged?.targets?.find((target) => target.kind === kind && target.name === name)?.template;
}
