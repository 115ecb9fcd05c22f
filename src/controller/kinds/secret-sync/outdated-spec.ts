import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { findResource } from '../../../kube/client/custom-resources.ts';
import { secretSyncKind } from '../../../kube/client/keyframe-kinds.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SyncContext } from './model.ts';
import { sameRecord, sourcesOfRecord } from './target/target-record.ts';
import { type TargetRecord, type VerifiedTarget, type Facts, type TargetFacts } from './model.ts';

/** The intended write: the facts, and the target that was observed. */
export interface Intent {
  readonly facts: Facts;
  readonly existing: ObjectMeta | undefined;
}

/**
 * Whether a write would be for an outdated spec because this process's watch is behind. The API server is asked for the
 * newest spec only if that is likely (see `isDoubtful`). Call it between the observation of the Secret and the write, which is
 * bound to the observed version: then an older spec never replaces the data of a newer one. Throws ApiError.
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
  // It existed: the client that deleted it may have deleted the SecretSync first, which another watch reports.
  if (target.state === 'absent') return verified !== undefined || sync.status?.target !== undefined;
  if (existing === undefined || isVersion(existing, verified)) return false;
  // Another controller wrote it, perhaps for a newer spec with another pin.
  return recordsOther(target, wanted.record);
}

function isVersion({ uid, resourceVersion }: ObjectMeta, verified: VerifiedTarget | undefined): boolean {
  return verified?.uid === uid && verified.resourceVersion === resourceVersion;
}

/** Whether a Secret with data of the SecretSync records other environments or pins. */
function recordsOther(target: TargetFacts, record: TargetRecord): boolean {
  const isOurs = target.state === 'owned' || target.state === 'shared';
  return isOurs && sourcesOfRecord(target.record) !== undefined && !sameRecord(target.record, record);
}
