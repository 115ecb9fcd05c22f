import { ApiError, isApiStatus } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { createResource, deleteResource, patchResource } from '../../../kube/client/custom-resources.ts';
import { secretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import { childPatch, newChild } from './child.ts';
import type { Children } from './children.ts';
import type { Write } from './plan.ts';

/**
 * The result of one write. `outdated`: the SecretSync has changed since it was judged. `refused`: the API server or an
 * admission webhook refused this SecretSync in this namespace.
 */
export type WriteResult = 'done' | 'outdated' | 'refused';

export interface WriterDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly children: Children;
}

// Each written SecretSync is reconciled meanwhile, which causes further requests to the API server.
const concurrency = 10;
// These statuses are about the API server, not about the SecretSync.
const troubles: readonly number[] = [0, 401, 429, 502, 503, 504];

/**
 * Applies writes, several at once, and calls `onResult` with the result of each. Throws ApiError if the API server is
 * unavailable; the remaining writes are not started then.
 */
export async function applyWrites(
  deps: WriterDeps,
  parent: ClusterSecretSync,
  writes: readonly Write[],
  onResult: (write: Write, result: WriteResult) => void,
): Promise<void> {
  const left = writes.values();
  const state = { isBroken: false };
  const work = async (): Promise<void> => {
    for (const write of left) {
      if (state.isBroken) return;
      try {
        onResult(write, await resultOf(deps, parent, write));
      } catch (error) {
        state.isBroken = true;
        throw error;
      }
    }
  };
  const results = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

async function resultOf(deps: WriterDeps, parent: ClusterSecretSync, write: Write): Promise<WriteResult> {
  try {
    await applyOne(deps, parent, write);
    return 'done';
  } catch (error) {
    // It or its namespace is gone, or another client changed or created it: the watch will show that.
    if (isApiStatus(error, 404, 409)) return 'outdated';
    if (!(error instanceof ApiError) || troubles.includes(error.status)) throw error;
    return 'refused';
  }
}

async function applyOne({ client, children }: WriterDeps, parent: ClusterSecretSync, write: Write): Promise<void> {
  const place = { namespace: write.namespace, name: parent.metadata.name };
  const key = objectKey(place);
  if (write.do === 'create') {
    children.created(key, parent, await createResource(client, secretSyncKind, newChild(parent, write.namespace)));
    return;
  }
  const { present } = write;
  const { uid, resourceVersion } = present.metadata;
  if (write.do === 'remove') {
    await deleteResource(client, secretSyncKind, { resource: place, uid, resourceVersion });
    children.removed(key, present);
    return;
  }
  const patch = childPatch(parent, present);
  if (patch === undefined) return;
  children.changed(
    key,
    parent,
    present,
    await patchResource(client, secretSyncKind, { resource: place, resourceVersion, patch }),
  );
}
