import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RolledBack } from '../../../src/controller/kinds/secret-sync/model.ts';
import { formatRolledBack, retryOf } from '../../../src/controller/kinds/secret-sync/rollback/rolled-back.ts';
import { secretSync } from './builders.ts';
import { Harness, prod, syncs } from './controller-harness.ts';
import { bad, good, markOf, recordedBack, rolledBack, rolloutSpec } from './rollback-harness.ts';

// Workloads are not watched here: the Secret's own record says what it was taken back from.

const annotation = 'keyframe.dev/rolled-back';
let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

/** The environment at `bad`, and the Secret at `good` with a record, as another controller left it. */
async function recorded(record: RolledBack): Promise<void> {
  harness = await recordedBack(record);
}

/** The same where the record holds. */
async function takenBack(): Promise<void> {
  await recorded(rolledBack());
  expect(harness.values()).toEqual(good);
}

const record = (): string | undefined => harness.target()?.metadata.annotations?.[annotation];
const conditionOf = (type: string): unknown =>
  harness.status().conditions?.find((condition) => condition.type === type);

function askAgain(value: string): void {
  harness.cluster.put(syncs, 'app', ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'keyframe.dev/retry-rollout': value };
  });
}

async function expectForward(): Promise<void> {
  await harness.calls();
  expect(harness.values()).toEqual(bad);
  expect(record()).toBeUndefined();
  expect(harness.ready()?.reason).toBe('Synced');
  expect(harness.status()).not.toHaveProperty('rolledBack');
  expect(conditionOf('RolledBack')).toBeUndefined();
}

describe('a Secret that was taken back', () => {
  test('stays so while its environment has the data that failed, and costs no write', async () => {
    await takenBack();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'RolledBack' });
    expect(conditionOf('Stalled')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(conditionOf('RolledBack')).toMatchObject({ status: 'True' });
    expect(harness.status()).toMatchObject({ syncedRevision: 1, wantedRevision: 2, rolledBack: rolledBack() });
    await harness.controller.stop();
    const again = new Harness(harness);
    await again.start();
    expect((await again.calls()).filter((call) => !call.startsWith('GET'))).toEqual([]);
    expect(again.values()).toEqual(good);
    await again.controller.stop();
  });

  test('stays so at a newer revision with the same data, and goes on with other data', async () => {
    await takenBack();
    harness.services.change(prod, { ...bad });
    await harness.calls();
    expect(harness.values()).toEqual(good);
    expect(harness.status()).toMatchObject({ syncedRevision: 1, wantedRevision: 3 });
    harness.services.change(prod, { ...bad, A: 'better' });
    await harness.calls();
    expect(harness.values()).toEqual({ ...bad, A: 'better' });
    expect(record()).toBeUndefined();
  });

  test('has it again after an edit, a deletion, and a loss of its record, which the status replaces', async () => {
    await takenBack();
    harness.edit((secret) => {
      secret['data'] = { A: Buffer.from('edited').toString('base64') };
    });
    await harness.calls();
    expect(harness.values()).toEqual(good);
    harness.edit(({ metadata }) => {
      delete metadata.annotations?.[annotation];
    });
    await harness.calls();
    expect(record()).toBe(formatRolledBack(rolledBack()));
    await harness.controller.stop();
    harness.cluster.remove('/api/v1/namespaces/ns/secrets/app');
    harness = new Harness(harness);
    await harness.start();
    await harness.calls();
    expect(harness.values()).toEqual(good);
    expect(record()).toBe(formatRolledBack(rolledBack()));
  });

  test('goes on where a value of what it holds is destroyed, of which it hears at once', async () => {
    await takenBack();
    harness.services.destroy(prod, 1, ['A']);
    await expectForward();
  });

  test('goes on where that was destroyed while no listener was connected', async () => {
    await takenBack();
    harness.services.destroy(prod, 1, ['A'], { missed: true });
    harness.services.ready();
    await expectForward();
  });

  test('goes on where a key of what it holds is deleted, though it is made again', async () => {
    await takenBack();
    harness.services.change(prod, { A: 'bad', C: 'new' }, { missed: true });
    harness.services.change(prod, bad);
    await expectForward();
  });

  test('goes on where the spec does not want it taken back any more', async () => {
    await takenBack();
    harness.putSync({ spec: rolloutSpec('Hold') });
    await expectForward();
  });

  test('goes on once for each value of the annotation that asks for another try', async () => {
    await takenBack();
    askAgain('now');
    await expectForward();
  });

  test('stays so with a value of that annotation that it was taken back under', async () => {
    const sync = secretSync({ metadata: { annotations: { 'keyframe.dev/retry-rollout': 'now' } } });
    const retry = retryOf(sync);
    await recorded(rolledBack(retry === undefined ? {} : { retry }));
    askAgain('now');
    await harness.calls();
    expect(harness.values()).toEqual(good);
    askAgain('later');
    await expectForward();
  });
});

describe('a forged record', () => {
  test.each<readonly [string, Partial<RolledBack>]>([
    [
      'of a revision with other data than it says',
      { held: { data: markOf({ A: 'x' }), sources: [{ revision: 1, revisionId: 'env-r1' }] } },
    ],
    [
      'of a revision that the environment does not have',
      { held: { data: markOf(good), sources: [{ revision: 9, revisionId: 'env-r9' }] } },
    ],
    [
      'of other sources',
      { held: { data: markOf(good), sources: [{ name: 'shared', revision: 1, revisionId: 'env-r1' }] } },
    ],
    ['of other data that failed', { data: markOf(good) }],
  ])('%s holds nothing back', async (_, more) => {
    await recorded(rolledBack(more));
    await expectForward();
  });
});
