import { afterEach, describe, expect, test } from '@jest/globals';
import { ClaimsHarness, expectOwner, older, staging, stopHarnesses, younger } from '../claims-harness.ts';
import { secrets, syncs } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';

/** Two SecretSyncs that name one Secret. */

afterEach(stopHarnesses);

/** `older` holds the Secret, `younger` claims it as well. */
async function claimedTwice(): Promise<ClaimsHarness> {
  const harness = ClaimsHarness.create();
  harness.claim(younger);
  harness.claim(older);
  await harness.start();
  await harness.rest();
  return harness;
}

/** As before, and then the Secret was handed over to `younger`. */
async function handedOver(): Promise<ClaimsHarness> {
  const harness = await claimedTwice();
  harness.edit(({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'keyframe.dev/allow-adoption': 'younger' };
  }, 'shared');
  await settled();
  return harness;
}

describe('a Secret that two SecretSyncs claim', () => {
  test('has the values of the older one after each of 20 deletions', async () => {
    const harness = await claimedTwice();
    expectOwner(harness, older, younger);
    for (let count = 0; count < 20; count += 1) {
      await harness.loseSecret();
      expectOwner(harness, older, younger);
    }
    expect(harness.writes).toEqual(['create done', ...Array.from({ length: 20 }, () => 'repair done')]);
  });

  test('has the values of the one that it was handed over to', async () => {
    const harness = await handedOver();
    await harness.loseSecret();
    expectOwner(harness, younger, older);
  });

  test.each([
    ['the Secret', (watch: string) => watch.includes('metadata.name')],
    ['all targets', (watch: string) => !watch.includes('metadata.name')],
  ])('has them if the watch of %s shows the consent first', async (_, isFirst) => {
    const harness = await claimedTwice();
    expect(harness.cluster.openWatches).toContain(`${secrets}?metadata.name=shared`);
    const release = harness.cluster.holdWatches((watch) => !isFirst(watch));
    harness.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'keyframe.dev/allow-adoption': 'younger' };
    }, 'shared');
    await settled();
    release();
    await harness.rest();
    expectOwner(harness, younger, older);
  });

  test('has them even if it is deleted before a status reports the handover', async () => {
    const harness = await claimedTwice();
    harness.cluster.before(/^PATCH .*younger\/status$/, () => harness.cluster.remove(`${secrets}/shared`));
    harness.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'keyframe.dev/allow-adoption': 'younger' };
    }, 'shared');
    await harness.rest();
    expectOwner(harness, younger, older);
  });

  test('has them if it is deleted while the controller is down, and another one starts', async () => {
    const before = await handedOver();
    await before.rest();
    await before.controller.stop();
    before.cluster.remove(`${secrets}/shared`);
    const harness = ClaimsHarness.create(before);
    await harness.start();
    await harness.rest();
    expectOwner(harness, younger, older);
  });

  test('has them if it is deleted while another controller leads', async () => {
    const harness = await handedOver();
    await harness.rest();
    harness.lease.isTaken = true;
    await harness.clock.advance(20_000);
    await harness.loseSecret();
    expect(harness.from).toBeUndefined();
    harness.lease.isTaken = false;
    await harness.clock.advance(20_000);
    expectOwner(harness, younger, older);
  });

  test('is created by the first name if both were created in the same second', async () => {
    const harness = ClaimsHarness.create();
    harness.claim({ ...younger, second: 1 });
    harness.claim(older);
    await harness.start();
    await harness.rest();
    expectOwner(harness, older, younger);
  });

  test('stays with the one that was seen first and created it', async () => {
    const harness = ClaimsHarness.create();
    await harness.start();
    harness.claim({ ...younger, second: 1 });
    await harness.rest();
    harness.claim(older);
    await harness.rest();
    await harness.loseSecret();
    expectOwner(harness, younger, older);
  });

  test('costs its owner no reconcile while the other one waits', async () => {
    const harness = await claimedTwice();
    await harness.rest();
    harness.cluster.takeCalls();
    harness.services.reads.splice(0);
    harness.services.change(staging, { FROM: 'staging2' });
    await harness.rest();
    expect(harness.cluster.takeCalls()).toEqual([]);
    expect(harness.services.reads).toEqual([]);
  });
});

describe('the owner of a Secret', () => {
  test('keeps its claim if it was never able to sync, and the other one names it', async () => {
    const harness = ClaimsHarness.create();
    harness.claim(older);
    harness.claim(younger);
    harness.cluster.put(syncs, 'older', (object) => {
      object['spec'] = { ...(object['spec'] as object), tokenSecretRef: { name: 'nothing', key: 'token' } };
    });
    await harness.start();
    await harness.rest();
    expect(harness.from).toBeUndefined();
    expect(harness.reason('older')).toBe('TokenSecretNotFound');
    expect(harness.ready('younger')).toMatchObject({
      reason: 'TargetClaimed',
      message: expect.stringContaining('belongs to the SecretSync older:'),
    });
    // No command that needs the Secret, which is missing.
    expect(harness.ready('younger')?.message).not.toContain('kubectl annotate');
    expect(harness.ready('younger')?.message).toContain('kubectl describe secretsyncs.keyframe.dev -n ns older');
    harness.cluster.remove(`${syncs}/older`);
    await harness.rest();
    expect(harness.from).toBe('staging');
    expect(harness.reason('younger')).toBe('Synced');
  });

  test('keeps its claim while it is suspended', async () => {
    const harness = await claimedTwice();
    harness.cluster.put(syncs, 'older', (object) => {
      object['spec'] = { ...(object['spec'] as object), suspend: true };
    });
    await harness.rest();
    await harness.loseSecret();
    expect(harness.from).toBeUndefined();
    expect(harness.reason('younger')).toBe('TargetClaimed');
  });

  test.each([
    ['is deleted', (harness: ClaimsHarness) => harness.cluster.remove(`${syncs}/older`)],
    [
      'is being deleted and waits for another finalizer',
      (harness: ClaimsHarness) => {
        harness.cluster.put(syncs, 'older', ({ metadata }) => {
          metadata.finalizers = ['example.com/hold'];
        });
        harness.cluster.collect(`${syncs}/older`);
      },
    ],
  ])('that %s leaves its Secret, which the other one may only adopt', async (_, remove) => {
    const harness = await claimedTwice();
    remove(harness);
    await harness.rest();
    expect(harness.from).toBe('prod');
    expect(harness.ready('younger')).toMatchObject({
      reason: 'TargetNotOwned',
      message: expect.stringContaining('belongs to the SecretSync older, which no longer writes it.'),
    });
    await harness.loseSecret();
    expect(harness.from).toBe('staging');
  });

  test.each([
    ['first', ['secretsyncs/older', 'secrets/shared']],
    ['last', ['secrets/shared', 'secretsyncs/older']],
  ])('that is deleted together with its Secret, %s, is followed by the other one', async (_, paths) => {
    const harness = await claimedTwice();
    for (const path of paths)
      harness.cluster.remove(`${path.startsWith('secrets/') ? secrets : syncs}/${path.split('/')[1] ?? ''}`);
    await harness.rest();
    expect(harness.from).toBe('staging');
    expect(harness.reason('younger')).toBe('Synced');
  });
});
