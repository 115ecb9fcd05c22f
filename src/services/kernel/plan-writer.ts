import { randomUUID } from 'node:crypto';
import type { PlannedKey } from '../../domain/plans/plan.ts';
import type { RecordedActor } from '../../domain/principal.ts';
import { notifyEnvironment } from '../../store/notify.ts';
import { type ChangeType, type NewVersion, type SecretChange, writeRevision } from '../../store/secrets.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { PresentRevision } from './environment-lock.ts';
import type { GrowthBudget } from './growth-budget.ts';

/** How a plan is written. */
export interface PlanWrite<Planned extends PlannedKey> {
  readonly organizationId: string;
  readonly environmentId: string;
  /** The revision that the lock found. */
  readonly before: PresentRevision;
  readonly keys: readonly Planned[];
  /** Content and change type of the version of a key; by default the source is copied, and it is rolled back to. */
  readonly versionOf?: (planned: Planned) => Pick<NewVersion, 'content' | 'changeType'>;
  readonly actor: RecordedActor;
  readonly comment: string | null;
  readonly budget: Pick<GrowthBudget, 'charge' | 'environmentBytesPerDay'>;
}

/**
 * Writes what a plan changes as one revision, notifies the listeners and charges the budget. A plan that changes nothing
 * makes no revision; then the revision before is returned. The caller holds the environment's lock since before the facts of
 * the plan were read, and has checked the quota. Throws what `GrowthBudget.charge` throws.
 */
export async function writePlan<Planned extends PlannedKey>(
  tx: Transaction,
  {
    organizationId,
    environmentId,
    before,
    keys,
    versionOf = copiedVersion,
    actor,
    comment,
    budget,
  }: PlanWrite<Planned>,
): Promise<PresentRevision> {
  const changes = changesOf(keys, versionOf);
  if (changes.length === 0) return before;
  const id = randomUUID();
  const number = before.revision + 1;
  const { environmentBytesPerDay: budgetBytesPerDay } = budget;
  const [written] = await tx.pipeline([
    writeRevision(tx, { id, environmentId, number, actor, comment, changes, budgetBytesPerDay }),
    notifyEnvironment(tx, { organizationId, environmentId }, id),
  ]);
  budget.charge(actor.id, written);
  return { revision: number, revisionId: id };
}

const rolledBack: ChangeType = 'rolled_back';

function copiedVersion({ key, source }: PlannedKey): Pick<NewVersion, 'content' | 'changeType'> {
  if (source === null) throw new Error(`the plan has no version to copy for ${key}`);
  return { content: { copiedVersionId: source.versionId }, changeType: rolledBack };
}

function changesOf<Planned extends PlannedKey>(
  keys: readonly Planned[],
  versionOf: (planned: Planned) => Pick<NewVersion, 'content' | 'changeType'>,
): SecretChange[] {
  return keys.flatMap((planned): SecretChange[] => {
    const { key, effect, present } = planned;
    const { secretId } = present;
    if (effect === 'none') return [];
    if (effect === 'delete') return [{ kind: 'deletion', secretId, key }];
    const version = { secretId, key, versionId: randomUUID(), version: present.version + 1 };
    return [{ kind: 'version', ...version, ...versionOf(planned) }];
  });
}
