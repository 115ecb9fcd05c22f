import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { Uninstall, finalizedKinds, uninstallLeaseSeconds } from '../../../src/roles/pre-delete/uninstall.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeCluster } from '../controller/fake-cluster.ts';
import { finalizer } from '../../../src/controller/annotations.ts';

const api = '/apis/keyframe.dev/v1alpha1';
const tokens = `${api}/namespaces/team-a/servicetokens`;
const environments = `${api}/secretenvironments`;
let cluster: FakeCluster;
let nowMs: number;
/** When the Lease was seized. */
let seizedAt: number[];
/** The holder at each time, in order; no holder after the last one. */
let holders: (string | undefined)[];

beforeEach(() => {
  cluster = new FakeCluster();
  nowMs = 0;
  seizedAt = [];
  holders = [];
});

function uninstall(watchNamespaces: readonly string[] = ['team-a']): Promise<number> {
  const lease = {
    seize: async (): Promise<string | undefined> => {
      await Promise.resolve();
      seizedAt.push(nowMs);
      return holders.shift();
    },
  };
  const clock = {
    after: (delayMs: number, callback: () => void): (() => void) => {
      nowMs += delayMs;
      callback();
      return () => undefined;
    },
  };
  const logger = createLogger('silent');
  return new Uninstall({ kube: cluster, lease, watchNamespaces, clock, steadyNow: () => nowMs, logger }).run();
}

function put(collection: string, name: string, finalizers: readonly string[]): void {
  cluster.put(collection, name, ({ metadata }) => {
    metadata.finalizers = [...finalizers];
  });
}

function finalizersOf(path: string): readonly string[] | undefined {
  const found = cluster.get(path);
  return found && (found.metadata.finalizers ?? []);
}

describe('the removal of finalizers', () => {
  test('takes ours off, keeps those of others, and writes to nothing that has none', async () => {
    put(tokens, 'ours', [finalizer]);
    put(tokens, 'both', ['example.com/mine', finalizer]);
    put(tokens, 'none', []);
    put(environments, 'cluster', [finalizer]);
    expect(await uninstall()).toBe(3);
    expect(finalizersOf(`${tokens}/ours`)).toEqual([]);
    expect(finalizersOf(`${tokens}/both`)).toEqual(['example.com/mine']);
    expect(finalizersOf(`${environments}/cluster`)).toEqual([]);
    expect(cluster.takeCalls()).not.toContain(`PATCH ${tokens}/none`);
  });

  test('waits for a leader that lost the Lease before it looks, as long as another leader would', async () => {
    holders = ['controller-1'];
    put(tokens, 'ours', [finalizer]);
    let patchedAt = 0;
    cluster.before(/^PATCH /, () => {
      patchedAt = nowMs;
    });
    expect(await uninstall()).toBe(1);
    expect(patchedAt).toBe(10_000);
    // Taken at first, and renewed after the wait.
    expect(seizedAt).toEqual([0, 10_000]);
  });

  test('does not wait if no controller led', async () => {
    await uninstall();
    expect(nowMs).toBe(0);
  });

  test('looks again after a controller took the Lease back, and waits for that one too', async () => {
    holders = [undefined, 'controller-2'];
    for (const name of ['one', 'two']) put(tokens, name, [finalizer]);
    // The second patch comes after the renewal is due; the controller has just put a finalizer back.
    cluster.beforeAnswer(/^PATCH .*one/, () => {
      nowMs += 6_000;
      put(tokens, 'one', [finalizer]);
    });
    expect(await uninstall()).toBe(3);
    expect(finalizersOf(`${tokens}/one`)).toEqual([]);
    expect(nowMs).toBe(16_000);
  });

  test('judges again what was changed meanwhile, and forgets what was deleted', async () => {
    put(tokens, 'changed', [finalizer]);
    put(tokens, 'gone', [finalizer]);
    cluster.before(/^PATCH .*changed/, () => {
      put(tokens, 'changed', ['example.com/late', finalizer]);
      cluster.remove(`${tokens}/gone`);
    });
    expect(await uninstall()).toBe(1);
    expect(finalizersOf(`${tokens}/changed`)).toEqual(['example.com/late']);
  });

  test('gives up where finalizers come back without end', async () => {
    const putBack = (): void => {
      put(tokens, 'ours', [finalizer]);
      cluster.beforeAnswer(/^PATCH /, putBack);
    };
    putBack();
    await expect(uninstall()).rejects.toMatchObject({ code: 'conflict', detail: expect.stringContaining(finalizer) });
  });

  test('does without kinds that the cluster does not know', async () => {
    put(environments, 'cluster', [finalizer]);
    for (let round = 0; round < 4; round += 1) {
      cluster.before(/^GET .*\/(?:servicetokens|secretsnapshots)/, () => {
        throw new ApiError('GET', 404, 'NotFound');
      });
    }
    expect(await uninstall()).toBe(1);
  });

  test('fails where it may not list', async () => {
    cluster.before(/^GET .*\/secretsnapshots/, () => {
      throw new ApiError('GET', 403, 'Forbidden');
    });
    await expect(uninstall()).rejects.toMatchObject({ status: 403 });
  });
});

test.each([
  [0, 30],
  [5_000, 35],
  [60_000, 60],
])('with %i ms in which pods serve on, the Lease is held for %i s', (delayMs, seconds) => {
  expect(uninstallLeaseSeconds(delayMs)).toBe(seconds);
});

const withoutFinalizer = ['accessgrants', 'clustersecretsyncs', 'secretsyncs', 'snapshotrestores', 'snapshotschedules'];

test('each kind declares whether the finalizer may hold it', () => {
  const kinds = readdirSync(join(checkoutDirectory, 'crds'))
    .filter((name) => name.endsWith('.yaml'))
    .map((file) => file.replace(/^keyframe\.dev_|\.yaml$/g, ''));
  const undecided = kinds.filter((plural) => !withoutFinalizer.includes(plural));
  expect(finalizedKinds.map(({ kind }) => kind.plural).sort()).toEqual(undecided);
  const rules = ['pre-delete', 'pre-delete-cluster'].map((name) =>
    readFileSync(join(checkoutDirectory, 'charts', 'keyframe', 'files', `${name}-rules.yaml`), 'utf8'),
  );
  for (const plural of undecided) expect(rules.join()).toMatch(new RegExp(`resources: \\[.*\\b${plural}\\b`));
});
