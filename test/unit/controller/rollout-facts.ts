import type { RolloutFacts } from '../../../src/controller/kinds/rollout/plan.ts';
import { formatMark, markAnnotation } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import type { WorkloadFacts } from '../../../src/controller/kinds/rollout/assessment.ts';
import type { Target, Workload } from '../../../src/controller/kinds/rollout/targets.ts';

export const now = Date.UTC(2026, 0, 1);
export const data = 'a'.repeat(32);
export const other = 'b'.repeat(32);
export const web: Target = { kind: 'Deployment', name: 'web' };
export const api: Target = { kind: 'Deployment', name: 'api' };
export const timeoutMs = 600_000;

export interface Shape {
  /** What its pod template was restarted for, by SecretSync; none by default. */
  readonly marks?: Readonly<Record<string, string>>;
  readonly updated?: number;
  readonly deadline?: boolean;
}

/** A Deployment of two pods. */
export function workload({ marks = {}, updated = 2, deadline = false }: Shape = {}): Workload {
  const conditions = deadline ? [{ type: 'Progressing', reason: 'ProgressDeadlineExceeded' }] : [];
  return {
    templateDigest: 'template',
    metadata: { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '1', generation: 1 },
    spec: { replicas: 2, template: { metadata: { annotations: marks } } },
    status: { observedGeneration: 1, replicas: 2, updatedReplicas: updated, availableReplicas: 2, conditions },
  };
}

/** The annotation of a restart for revision 3. */
export function marked(mark = data, at = now - 60_000, sync = 'app'): Record<string, string> {
  return { [markAnnotation(sync)]: formatMark({ revision: 3, data: mark, at }) };
}

export function target(found: Workload | undefined, more: Partial<WorkloadFacts> = {}): WorkloadFacts {
  const calm = {
    isSeen: true,
    isForbidden: false,
    rollingSince: now,
    restartFrom: now,
    refusal: undefined,
    timesUndone: 0,
    failure: { kind: 'unknown' },
    observeFrom: Infinity,
  } as const;
  return { target: web, workload: found, ...calm, ...more };
}

/** The Secret of `app` holds `data`, of revision 7. */
export const calmFacts: Omit<RolloutFacts, 'targets'> = {
  syncName: 'app',
  held: { revision: 7, revisionId: 'r7', data, sources: [{ revision: 7, revisionId: 'r7' }] },
  converged: undefined,
  onFailure: 'Hold',
  rollbackRefusal: undefined,
  timeoutMs,
  timeout: '10m',
  now,
};
