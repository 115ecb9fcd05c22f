import { afterEach, describe, expect, test } from '@jest/globals';
import { fingerprintOfCluster, setFingerprint } from '../../../src/lib/set-fingerprint.ts';
import type { KeyObject } from 'node:crypto';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { fingerprintKeyFor } from './builders.ts';
import { Harness } from './controller-harness.ts';
import { settled } from './fake-clock.ts';
import { RolloutHarness } from './rollout-harness.ts';

/** Fingerprints have a key of the cluster, whose name may be known only once the namespaces are listed. */

const namespaces = '/api/v1/namespaces';

describe('a cluster', () => {
  const entries: [string, Uint8Array][] = [['A', Buffer.from('alpha')]];

  test('has its key derived once for its name', () => {
    const derived: string[] = [];
    let name = 'one';
    const derive = (cluster: string): KeyObject => {
      derived.push(cluster);
      return fingerprintKeyFor(cluster);
    };
    const expected = (cluster: string): Buffer => setFingerprint(fingerprintKeyFor(cluster), 'ns/app', entries);
    const fingerprint = fingerprintOfCluster(derive, () => name);
    expect(fingerprint('ns/app', entries)).toEqual(expected('one'));
    fingerprint('ns/other', entries);
    expect(derived).toEqual(['one']);
    name = 'two';
    expect(fingerprint('ns/app', entries)).toEqual(expected('two'));
  });
});

describe('without a configured name', () => {
  let harness: Harness;

  afterEach(() => harness.controller.stop());

  /** The first lists of the namespaces are denied. */
  async function start(denials: number, system = 'kube-system'): Promise<void> {
    harness = new Harness({ clusterName: 'uid' });
    for (const name of [system, 'ns']) harness.cluster.put(namespaces, name, () => {});
    for (let time = 0; time < denials; time += 1) {
      harness.cluster.before(/^GET .*\/namespaces$/, () => {
        throw new ApiError('GET', 403, 'Forbidden');
      });
    }
    await harness.synced();
  }

  test('a SecretSync waits until the namespaces are listed', async () => {
    await start(3);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'ClusterUnavailable' });
    expect(harness.ready()?.message).toContain('Namespaces');
    expect(harness.values()).toBeUndefined();
    await harness.clock.advance(60_000);
    expect(harness.ready()).toMatchObject({ status: 'True' });
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
  });

  test('a SecretSync of a cluster without kube-system says which setting names the cluster', async () => {
    await start(0, 'another');
    expect(harness.ready()?.message).toContain('KEYFRAME_CLUSTER_NAME');
    expect(harness.values()).toBeUndefined();
  });
});

test('no workload is watched before the data of its Secret is known', async () => {
  const harness = new RolloutHarness();
  harness.rollouts.learn(harness.sync, { held: undefined });
  await settled();
  expect(harness.cluster.openWatches).toEqual([]);
  await harness.hold('a');
  expect(harness.cluster.openWatches).toHaveLength(1);
  await harness.rollouts.close();
});
