import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { Harness, prod, secrets } from './controller-harness.ts';
import type { AnyObject } from './fake-cluster.ts';

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

const inStep = { A: 'alpha', B: 'beta' };
const last = 'If this happens again, stop the other client, or change the values in Keyframe instead.';
const notes = (): string[] => harness.cluster.events.map(({ reason, note }) => `${String(reason)}: ${String(note)}`);

/** Changes the Secret as the field manager `another`, and lets the controller repair it. */
async function wrote(change: (secret: AnyObject) => void): Promise<void> {
  harness.edit(change);
  await harness.calls();
  expect(harness.values()).toEqual(inStep);
}

async function edited(data: Record<string, string>): Promise<void> {
  await wrote((secret) => {
    secret['data'] = data;
  });
}

describe('what another client does to a Secret is repaired and reported', () => {
  test('with its field manager and the names of the keys', async () => {
    await harness.synced();
    await edited({ A: 'eA==', Z: 'eA==' });
    expect(notes()).toEqual([
      `DriftRepaired: another wrote Secret app: added or changed the keys A, Z; removed the keys B. The controller repaired it. ${last}`,
    ]);
    expect(harness.writes).toEqual(['create done', 'repair done']);
  });

  test('without a key that it writes with the wanted value', async () => {
    await harness.synced();
    harness.edit((secret) => {
      secret['data'] = { A: 'eA==', B: Buffer.from('new').toString('base64') };
    });
    harness.services.change(prod, { A: 'alpha', B: 'new' });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'alpha', B: 'new' });
    expect(notes()).toEqual([expect.stringContaining('added or changed the keys A. The')]);
  });

  test('if it makes the Secret immutable', async () => {
    await harness.synced();
    await wrote((secret) => {
      secret['immutable'] = true;
    });
    expect(notes()).toEqual([
      `DriftRepaired: another wrote Secret app: made it immutable. The controller repaired it. ${last}`,
    ]);
    expect(harness.writes).toEqual(['create done', 'delete done', 'repair done']);
  });

  test('if it changes a label of the spec', async () => {
    await harness.synced({ target: { labels: { team: 'web' } } });
    await wrote(({ metadata }) => {
      metadata.labels = { ...metadata.labels, team: 'x' };
    });
    expect(notes()).toEqual([expect.stringContaining('changed its labels, annotations or owner references.')]);
  });

  test('if it deletes the Secret', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/app`);
    await harness.calls();
    expect(notes()).toEqual([
      `DriftRepaired: Another client deleted Secret app. The controller created it again. ${last}`,
    ]);
    expect(harness.writes).toEqual(['create done', 'repair done']);
  });

  test('if it takes merged keys out of its Secret', async () => {
    harness.edit((secret) => {
      secret['data'] = { x: 'eQ==' };
      secret.metadata.annotations = { 'keyframe.dev/allow-merge': 'app' };
    });
    await harness.synced({ target: { creationPolicy: 'Merge' } });
    harness.edit((secret) => {
      secret['data'] = { x: 'eQ==', y: 'eQ==' };
    });
    await harness.clock.advance(1_000);
    expect(harness.values()).toEqual({ ...inStep, x: 'y', y: 'y' });
    expect(notes()).toEqual([
      `DriftRepaired: Another client wrote Secret app: removed the keys A, B. The controller repaired it. ${last}`,
    ]);
    expect(harness.writes).toEqual(['apply done', 'repair done']);
  });
});

test('a second writer causes one Event in ten minutes, and each repair is counted', async () => {
  await harness.synced();
  for (const data of ['eA==', 'eQ==', 'eg==']) await edited({ A: data });
  expect(notes()).toHaveLength(1);
  expect(harness.writes).toEqual(['create done', ...Array.from({ length: 3 }, () => 'repair done')]);
  await harness.clock.advance(600_000);
  await edited({ A: 'eA==' });
  expect(notes()).toHaveLength(2);
});

describe('no drift is', () => {
  test('a change of the environment, of the spec or of an annotation of others', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'new', 'tls.crt': 'x', 'tls.key': 'y' });
    await harness.calls();
    harness.putSync({ target: { labels: { team: 'web' }, type: 'kubernetes.io/tls' } });
    await harness.calls();
    harness.edit(({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, mine: 'yes' };
    });
    await harness.calls();
    expect(harness.target()).toMatchObject({ type: 'kubernetes.io/tls', metadata: { labels: { team: 'web' } } });
    expect(harness.writes).not.toContain('repair done');
    expect(notes()).toEqual([]);
  });

  test('a write whose response was lost', async () => {
    await harness.synced();
    harness.cluster.beforeAnswer(/^PUT .*secrets[/]app/, () => {
      harness.services.change(prod, { A: 'third', B: 'beta' });
      throw new ApiError('PUT', 0, 'Unreachable');
    });
    harness.services.change(prod, { A: 'second', B: 'beta' });
    await harness.calls();
    await harness.clock.advance(60_000);
    expect(harness.values()).toEqual({ A: 'third', B: 'beta' });
    expect(harness.writes).not.toContain('repair done');
    expect(notes()).toEqual([]);
  });

  test('what the controller finds after a start', async () => {
    await harness.synced();
    await harness.controller.stop();
    harness.edit((secret) => {
      secret['data'] = {};
    });
    harness = new Harness(harness);
    await harness.start();
    expect(harness.values()).toEqual(inStep);
    expect(notes()).toEqual([]);
  });

  test('the end of another owner’s Secret, which the SecretSync had given away', async () => {
    await harness.synced();
    harness.edit(({ metadata }) => {
      metadata.annotations = {};
    });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('TargetNotOwned');
    harness.cluster.events.splice(0);
    harness.cluster.remove(`${secrets}/app`);
    await harness.calls();
    expect(harness.values()).toEqual(inStep);
    expect(harness.cluster.events).toMatchObject([{ reason: 'Synced' }]);
  });
});
