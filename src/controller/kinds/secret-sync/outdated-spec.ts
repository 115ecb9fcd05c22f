import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { findResource } from '../../../kube/client/custom-resources.ts';
import { secretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SyncContext } from './model.ts';
import { sameRecord, sourcesOfRecord } from './target/target-record.ts';
import { type TargetRecord, type VerifiedTarget, type Facts, type TargetFacts } from './model.ts';

/** What is about to be written over or made, and what was seen of it. */
export interface Intent {
  readonly facts: Facts;
  readonly existing: ObjectMeta | undefined;
}

/**
 * Whether a write may be for a spec that is no more, because this process's watch is behind. The API server is asked for the
 * newest one only where that is likely (see `isDoubtful`). Ask between the look at the Secret and the write, which is bound
 * to the version looked at: so an older spec never takes the place of a newer one's data. Throws ApiError.
 */
export async function isSpecOutdated(
  client: Pick<KubeClient, 'request'>,
  context: SyncContext,
  intent: Intent,
): Promise<boolean> {
  if (!isDoubtful(context, intent)) return false;
  const { namespace, name, uid, generation } = context.resource.metadata;
  const present = (await findResource(client, secretSyncKind, { namespace, name }))?.metadata;
  return present?.uid !== uid || present.generation !== generation || present.deletionTimestamp !== undefined;
}

function isDoubtful(
  { resource: sync, memory: { verified } }: SyncContext,
  { facts: { target, wanted }, existing }: Intent,
): boolean {
  if (wanted === undefined || wanted instanceof DomainError) return false;
  // It was there: whoever deleted it may have deleted the SecretSync before, which another watch tells.
  if (target.state === 'absent') return verified !== undefined || sync.status?.target !== undefined;
  if (existing === undefined || isVersion(existing, verified)) return false;
  // Another controller wrote it, perhaps for a newer spec, such as a pin that was moved.
  return tellsOther(target, wanted.record);
}

function isVersion({ uid, resourceVersion }: ObjectMeta, verified: VerifiedTarget | undefined): boolean {
  return verified?.uid === uid && verified.resourceVersion === resourceVersion;
}

/** Whether a Secret with our data tells of another place or pin than this record. */
function tellsOther(target: TargetFacts, record: TargetRecord): boolean {
  const isOurs = target.state === 'owned' || target.state === 'shared';
  return isOurs && sourcesOfRecord(target.record) !== undefined && !sameRecord(target.record, record);
}
