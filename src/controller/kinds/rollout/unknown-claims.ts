import type { ConditionClaim } from '../../frame/conditions.ts';

/** What Converged says where nothing can be known of the workloads. */

/** The installation allows no restarts. */
export const rolloutsDisabled = unknown(
  'RolloutsDisabled',
  'spec.rollout asks for restarts, which this installation does not allow; the Secret is kept in step all the same. ' +
    'Set KEYFRAME_ROLLOUTS=true for the controller and give its account the rules of ' +
    'charts/keyframe/files/rollout-rules.yaml, or take spec.rollout away.',
);

/** Nothing is watched or restarted. */
export const rolloutSuspended = unknown('Suspended', 'spec.suspend is true: no workload is watched or restarted.');

/** No reconcile has told yet what the Secret holds. */
export const secretNotSynced = unknown(
  'SecretNotSynced',
  'What the Secret holds is not known yet: the workloads are looked at once the condition Ready is true.',
);

function unknown(reason: string, message: string): ConditionClaim {
  return { type: 'Converged', status: 'Unknown', reason, message };
}
