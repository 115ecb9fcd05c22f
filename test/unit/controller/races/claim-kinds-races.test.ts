import { afterEach, describe, expect, test } from '@jest/globals';
import { type Claimant, ClaimsHarness, older, stopHarnesses, younger } from '../claims-harness.ts';
import { secrets, syncs } from '../controller-harness.ts';
import { serviceTokensPath } from '../token-harness.ts';

/** A SecretSync beside a ServiceToken or a merge of the same Secret. */

afterEach(stopHarnesses);

describe('a Secret that a SecretSync and a ServiceToken claim', () => {
  /** The ServiceToken `shared`, whose Secret has its name. */
  const putToken = (harness: ClaimsHarness, second: number): void => {
    harness.grant();
    harness.putServiceToken('shared');
    harness.cluster.put(serviceTokensPath, 'shared', ({ metadata }) => {
      metadata.creationTimestamp = `2026-01-01T00:00:0${second}Z`;
    });
  };
  const tokenReady = (harness: ClaimsHarness): { reason: string; message: string } | undefined => {
    const status = harness.cluster.get(`${serviceTokensPath}/shared`)?.['status'] as
      { conditions: { type: string; reason: string; message: string }[] } | undefined;
    return status?.conditions.find(({ type }) => type === 'Ready');
  };

  test('is created again by the ServiceToken if that is the older one', async () => {
    const harness = ClaimsHarness.create();
    putToken(harness, 1);
    harness.claim(younger);
    await harness.start();
    await harness.rest();
    for (let count = 0; count < 5; count += 1) {
      expect(Object.keys(harness.values('shared') ?? {})).toEqual(['token']);
      expect(tokenReady(harness)?.reason).toBe('Issued');
      expect(harness.ready('younger')).toMatchObject({
        reason: 'TargetClaimed',
        message: expect.stringContaining('belongs to the ServiceToken shared:'),
      });
      await harness.loseSecret();
    }
  });

  test('is created again by the SecretSync if that is the older one', async () => {
    const harness = ClaimsHarness.create();
    putToken(harness, 2);
    harness.claim(older);
    await harness.start();
    await harness.rest();
    for (let count = 0; count < 5; count += 1) {
      expect(harness.from).toBe('prod');
      expect(tokenReady(harness)).toMatchObject({
        reason: 'TargetClaimed',
        message: expect.stringContaining('belongs to the SecretSync older:'),
      });
      await harness.loseSecret();
    }
    harness.cluster.remove(`${syncs}/older`);
    await harness.loseSecret();
    expect(tokenReady(harness)?.reason).toBe('Issued');
  });
});

describe('a Secret of something else that SecretSyncs merge into', () => {
  const merging: Claimant = { name: 'merging', environment: 'prod', second: 3, creationPolicy: 'Merge' };
  const putSecret = (harness: ClaimsHarness): void => {
    harness.edit((secret) => {
      secret['type'] = 'Opaque';
      secret['data'] = { OWN: 'eA==' };
      secret.metadata.annotations = { 'keyframe.dev/allow-merge': 'merging,second' };
    }, 'shared');
  };

  test('is not replaced by a SecretSync when it is deleted, however old that is', async () => {
    const harness = ClaimsHarness.create();
    putSecret(harness);
    harness.claim(merging);
    harness.claim(older);
    await harness.start();
    await harness.rest();
    expect(harness.reason('merging')).toBe('Synced');
    expect(harness.reason('older')).toBe('TargetNotOwned');
    for (let count = 0; count < 5; count += 1) {
      await harness.loseSecret();
      expect(harness.target('shared')).toBeUndefined();
      expect(harness.ready('older')).toMatchObject({
        reason: 'TargetClaimed',
        message: expect.stringContaining('SecretSync merging merges keys into'),
      });
      putSecret(harness);
      await harness.rest();
      expect(harness.values('shared')).toEqual({ OWN: 'x', FROM: 'prod' });
    }
  });

  test('gets the keys of the one that merged before, and then those of others', async () => {
    const harness = ClaimsHarness.create();
    putSecret(harness);
    harness.claim(merging);
    await harness.start();
    await harness.rest();
    const token = harness.target('token');
    harness.cluster.remove(`${secrets}/token`);
    await harness.loseSecret();
    harness.claim({ ...merging, name: 'second', environment: 'staging', second: 1 });
    harness.cluster.put(syncs, 'second', (object) => {
      const tokenSecretRef = { name: 'again', key: 'token' };
      const keys = { rename: [{ from: 'FROM', to: 'ALSO' }] };
      object['spec'] = { ...(object['spec'] as object), tokenSecretRef, keys };
    });
    harness.putToken('kf_svc_good', 'again');
    putSecret(harness);
    await harness.rest();
    expect(harness.values('shared')).toEqual({ OWN: 'x' });
    expect(harness.ready('second')).toMatchObject({
      reason: 'TargetClaimed',
      message: expect.stringContaining('have merged before: merging.'),
    });
    expect(token).toBeDefined();
    harness.putToken('kf_svc_good');
    await harness.rest();
    expect(harness.reason('merging')).toBe('Synced');
    expect(harness.reason('second')).toBe('Synced');
    expect(harness.values('shared')).toEqual({ OWN: 'x', FROM: 'prod', ALSO: 'staging' });
    expect(Object.keys(harness.target('shared')?.metadata.annotations ?? {})).toEqual(
      expect.arrayContaining(['merge.keyframe.dev/merging', 'merge.keyframe.dev/second']),
    );
  });

  test('has the value of the first one of two for a key that both merge, after each of 20 deletions', async () => {
    const harness = ClaimsHarness.create();
    putSecret(harness);
    harness.claim(merging);
    await harness.start();
    await harness.rest();
    harness.claim({ ...merging, name: 'second', environment: 'staging' });
    for (let count = 0; count < 20; count += 1) {
      await harness.rest();
      expect(harness.values('shared')).toEqual({ OWN: 'x', FROM: 'prod' });
      expect(harness.ready('second')).toMatchObject({
        reason: 'MergeConflict',
        message: expect.stringContaining('FROM (keyframe-merge-merging)'),
      });
      await harness.loseSecret();
      putSecret(harness);
    }
  });

  test('does not keep a SecretSync waiting for one that was deleted', async () => {
    const harness = ClaimsHarness.create();
    putSecret(harness);
    harness.claim(merging);
    await harness.start();
    await harness.rest();
    harness.cluster.remove(`${secrets}/token`);
    await harness.loseSecret();
    harness.claim({ ...older, name: 'creating' });
    await harness.rest();
    expect(harness.reason('creating')).toBe('TargetClaimed');
    harness.putToken('kf_svc_good');
    harness.cluster.remove(`${syncs}/merging`);
    await harness.rest();
    expect(harness.reason('creating')).toBe('Synced');
    expect(harness.from).toBe('prod');
  });

  test('names the SecretSync that creates it, and does not ask for another Secret', async () => {
    const harness = ClaimsHarness.create();
    harness.claim({ ...older, environment: 'staging' });
    harness.claim(merging);
    harness.cluster.put(syncs, 'older', (object) => {
      object['spec'] = { ...(object['spec'] as object), tokenSecretRef: { name: 'nothing', key: 'token' } };
    });
    await harness.start();
    await harness.rest();
    expect(harness.ready('merging')).toMatchObject({
      reason: 'MergeRefused',
      message: expect.stringContaining('belongs to the SecretSync older.'),
    });
  });
});
