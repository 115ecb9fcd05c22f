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
 * What one write came to. `outdated`: the SecretSync is no longer what was judged. `refused`: the API server, or what it asks,
 * does not take this SecretSync in this namespace.
 */
export type WriteResult = 'done' | 'outdated' | 'refused';

export interface WriterDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly children: Children;
}

// Each SecretSync that is written is reconciled meanwhile, which asks the API server for more.
const concurrency = 10;
// The answer is about the API server, and not about the SecretSync.
const troubles: readonly number[] = [0, 401, 429, 502, 503, 504];

/**
 * Carries writes out, several at once; `onResult` is called with what each came to. Throws ApiError if the API server answers
 * none; the rest of the writes are not begun then.
 */
export async function carryOut(
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
    await carryOutOne(deps, parent, write);
    return 'done';
  } catch (error) {
    // Gone, or its namespace is; changed, or made by another client: the watch will show it.
    if (isApiStatus(error, 404, 409)) return 'outdated';
    if (!(error instanceof ApiError) || troubles.includes(error.status)) throw error;
    return 'refused';
  }
}

async function carryOutOne({ client, children }: WriterDeps, parent: ClusterSecretSync, write: Write): Promise<void> {
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
