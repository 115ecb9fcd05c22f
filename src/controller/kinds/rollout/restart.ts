import type { KubeClient } from '../../../kube/client/client.ts';
import { type RestartMark, formatMark, markAnnotation } from './restart-mark.ts';
import { type Target, type Workload, workloadsPath } from './targets.ts';

/** Shows the API server, and so GitOps tools, who owns the annotation. */
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
 * Restarts a workload as `kubectl rollout restart` does: it writes an annotation into the pod template and nothing else.
 * Returns the complete workload afterwards. Throws ApiError, with status 409 if the workload has changed since it was judged.
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
