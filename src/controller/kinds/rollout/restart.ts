import type { KubeClient } from '../../../kube/client/client.ts';
import { type RestartMark, formatMark, markAnnotation } from './restart-mark.ts';
import { type Target, type Workload, workloadsPath } from './targets.ts';

/** By which the API server, and so GitOps tools, tell the annotation's owner. */
const fieldManager = 'keyframe-rollout';

export interface Restart {
  readonly syncName: string;
  readonly namespace: string;
  readonly target: Target;
  /** The workload as it was judged. */
  readonly workload: Workload;
  readonly mark: RestartMark;
}

/**
 * Restarts a workload as `kubectl rollout restart` does: by an annotation in its pod template, which is all that is
 * written. Answers the workload afterwards, the whole of it. Throws ApiError; 409 where it is no longer the one that was judged.
 */
export async function restartWorkload(client: Pick<KubeClient, 'request'>, restart: Restart): Promise<Workload> {
  const { syncName, namespace, target, workload, mark } = restart;
  const { uid, resourceVersion } = workload.metadata;
  const annotations = { [markAnnotation(syncName)]: formatMark(mark) };
  return await client.request<Workload>({
    method: 'PATCH',
    path: `${workloadsPath(target.kind, namespace)}/${encodeURIComponent(target.name)}`,
    query: { fieldManager },
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid, resourceVersion }, spec: { template: { metadata: { annotations } } } },
  });
}
