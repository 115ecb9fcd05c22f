import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { dataMark } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import type { RolledBack } from '../../../src/controller/kinds/secret-sync/model.ts';
import { formatRolledBack } from '../../../src/controller/kinds/secret-sync/rollback/rolled-back.ts';
import { fingerprint } from './builders.ts';
import { Harness, prod } from './controller-harness.ts';
import { rolloutOf } from './rollout-harness.ts';

/** Secrets whose own record says what they were taken back from; workloads are not watched. */

/** What the environment holds at its first revision, and at its second one, which failed. */
export const good = { A: 'alpha', B: 'beta' };
export const bad = { A: 'bad', B: 'beta', C: 'new' };

export const rolloutSpec = (onFailure: 'Hold' | 'Rollback'): Partial<SecretSyncSpec> => {
  const { rollout } = rolloutOf(['web']);
  return rollout === undefined ? {} : { rollout: { ...rollout, onFailure } };
};

export function markOf(values: Readonly<Record<string, string>>): string {
  return dataMark(
    fingerprint(
      'ns/app',
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value)] as const),
    ),
  );
}

/** From `bad` at revision 2 to `good` at revision 1. */
export function rolledBack(more: Partial<RolledBack> = {}): RolledBack {
  return {
    data: markOf(bad),
    sources: [{ revision: 2, revisionId: 'env-r2' }],
    held: { data: markOf(good), sources: [{ revision: 1, revisionId: 'env-r1' }] },
    ...more,
  };
}

/** A controller at rest: the environment at `bad`, and the Secret at `good` with a record that another controller left. */
export async function recordedBack(recorded: RolledBack, more: Partial<SecretSyncSpec> = {}): Promise<Harness> {
  const before = new Harness();
  await before.synced({ spec: { ...rolloutSpec('Rollback'), ...more } });
  await before.controller.stop();
  before.services.change(prod, bad);
  before.edit(({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'keyframe.dev/rolled-back': formatRolledBack(recorded) };
  });
  const harness = new Harness(before);
  await harness.start();
  await harness.calls();
  return harness;
}
