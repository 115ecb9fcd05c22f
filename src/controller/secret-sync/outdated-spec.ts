import type { KubeClient } from '../../kube/client.ts';
import { findResource } from '../../kube/custom-resources.ts';
import type { ObjectMeta } from '../../kube/objects.ts';
import type { Facts } from './judge.ts';
import type { Round } from './read.ts';
import { secretSyncKind } from './resource.ts';
import { sameRecord, sourceOf } from './target-record.ts';

/**
 * Whether a Secret that somebody else wrote last may be ahead of the spec that is worked on: another controller wrote it for
 * a newer one, such as a pin that was moved, which this process's watch does not show yet. Asked of the API server only
 * where the Secret's record is another one than ours would be. Ask between the look at the Secret and the write, which is
 * bound to the version looked at: so an older spec never takes the place of a newer one's data. Throws ApiError.
 */
export async function isSpecOutdated(
  client: Pick<KubeClient, 'request'>,
  { sync, memory }: Round,
  { facts: { target, source }, existing }: { readonly facts: Facts; readonly existing: ObjectMeta | undefined },
): Promise<boolean> {
  if (target.state !== 'owned' && target.state !== 'shared') return false;
  const { verified } = memory;
  const isOwnWrite = verified?.uid === existing?.uid && verified?.resourceVersion === existing?.resourceVersion;
  if (isOwnWrite || sourceOf(target.record) === undefined) return false;
  if (source !== undefined && 'record' in source && sameRecord(target.record, source.record)) return false;
  const { namespace, name, uid, generation } = sync.metadata;
  const present = (await findResource(client, secretSyncKind, { namespace, name }))?.metadata;
  return present?.uid !== uid || present.generation !== generation;
}
