import { describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets } from '../controller-harness.ts';
import { serviceToken } from '../fake-services.ts';
import { settled } from '../fake-clock.ts';
import { lostAt, rest } from './interleaving.ts';

/** A Secret that its owner writes while a SecretSync merges keys into it. */

class MergeHarness extends Harness {
  /** How often the owner has written. */
  edits = 0;

  /** The Secret `shared` of someone else, with its key OWN and the keys of the SecretSync ns/app. */
  static async synced(): Promise<MergeHarness> {
    const harness = new MergeHarness();
    harness.services.create(prod, 'env', { A: 'alpha', B: 'beta' });
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    harness.putToken('kf_svc_good');
    harness.edit((secret) => {
      secret['type'] = 'Opaque';
      secret['data'] = { OWN: encoded('0') };
      secret.metadata.annotations = { 'keyframe.dev/allow-merge': 'app' };
    }, 'shared');
    harness.putSync({ target: { name: 'shared', creationPolicy: 'Merge' }, spec: { maxDeletedKeys: '100%' } });
    await harness.start();
    await harness.clock.advance(5_000);
    harness.reconciled.splice(0);
    return harness;
  }

  /** Writes the Secret as its owner: the next value of the owner's key. */
  write(): void {
    this.edits += 1;
    this.edit((secret) => {
      secret['data'] = { ...(secret['data'] as object), OWN: encoded(`${this.edits}`) };
    }, 'shared');
  }

  /** Writes it as an owner that takes out what it did not put there. */
  overwrite(): void {
    this.edits += 1;
    this.edit((secret) => {
      secret['data'] = { OWN: encoded(`${this.edits}`) };
    }, 'shared');
  }
}

/** Expects these keys beside the last that the owner wrote. */
function expectMerged(harness: MergeHarness, values: Record<string, string>): void {
  expect(harness.values('shared')).toEqual({ ...values, OWN: `${harness.edits}` });
  expect(harness.ready()?.reason).toBe('Synced');
  const { resourceVersion } = harness.cluster.get(`${secrets}/shared`)?.metadata ?? {};
  expect(harness.status()).toMatchObject({ target: { name: 'shared', resourceVersion } });
}

const encoded = (value: string): string => Buffer.from(value).toString('base64');
const commitSecond = ({ services }: Harness): void => services.change(prod, { A: 'second' });

describe('during a merge', () => {
  test('a write of the owner keeps its value and ours', async () => {
    const lost = await lostAt({
      prepare: () => MergeHarness.synced(),
      begin: commitSecond,
      event: (harness) => harness.write(),
      check: (harness) => {
        expectMerged(harness, { A: 'second' });
        expect(harness.reconciled.length).toBeLessThanOrEqual(3);
      },
    });
    expect(lost).toEqual([]);
  });

  test('a write of the owner that takes our keys out has them merged again', async () => {
    const lost = await lostAt({
      prepare: () => MergeHarness.synced(),
      begin: commitSecond,
      event: (harness) => harness.overwrite(),
      check: (harness) => {
        expectMerged(harness, { A: 'second' });
        expect(harness.reconciled.length).toBeLessThanOrEqual(3);
      },
    });
    expect(lost).toEqual([]);
  });

  test('the end of the consent is respected, and its return followed', async () => {
    const lost = await lostAt({
      prepare: () => MergeHarness.synced(),
      begin: commitSecond,
      event: (harness) =>
        harness.edit(({ metadata }) => {
          metadata.annotations = {};
        }, 'shared'),
      later: async (harness) => {
        expect(harness.ready()?.reason).toBe('TargetNotOwned');
        harness.services.change(prod, { A: 'third' });
        await settled();
        harness.edit(({ metadata }) => {
          metadata.annotations = { 'keyframe.dev/allow-merge': 'app' };
        }, 'shared');
      },
      check: (harness) => expect(harness.values('shared')).toMatchObject({ A: 'third' }),
    });
    expect(lost).toEqual([]);
  });
});

describe('an owner that writes without pause', () => {
  test.each([['write'], ['overwrite']] as const)(
    'by %s costs bounded work, and has our newest keys at its end',
    async (way) => {
      const harness = await MergeHarness.synced();
      for (let count = 0; count < 400; count += 1) {
        if (count === 200) commitSecond(harness);
        harness[way]();
        await harness.clock.advance(50);
      }
      // 20 s long: once a second, and the commit.
      expect(harness.reconciled.length).toBeLessThanOrEqual(24);
      await rest(harness);
      expectMerged(harness, { A: 'second' });
      await harness.controller.stop();
    },
  );

  test('at each of our calls does not keep us busy, and has our newest keys at its end', async () => {
    const harness = await MergeHarness.synced();
    let writes = 0;
    harness.cluster.onStep = (step) => {
      // An owner that would never cease could keep a controller busy for ever that does not bound its work.
      if (!step.startsWith('before PATCH') || !step.includes('secrets/shared') || writes > 200) return;
      writes += 1;
      harness.write();
    };
    commitSecond(harness);
    await harness.clock.advance(20_000);
    // Three tries for each reconcile, and about one of those a second.
    expect(writes).toBeGreaterThanOrEqual(3);
    expect(writes).toBeLessThanOrEqual(3 * 24);
    harness.cluster.onStep = undefined;
    await rest(harness, 60_000);
    expectMerged(harness, { A: 'second' });
    await harness.controller.stop();
  });
});
