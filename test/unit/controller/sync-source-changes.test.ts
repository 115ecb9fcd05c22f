import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { syncs } from './controller-harness.ts';
import { SourceHarness, environmentRef, ownValues, pathOf, sharedValues, sourceOf, united } from './source-harness.ts';

let harness: SourceHarness;
const [shared, own] = [sourceOf('shared'), sourceOf('own')];
/** The Secret of the environment acme/web/own alone, without spec.sources. */
const alone: Partial<SecretSyncSpec> = {
  environmentRef: environmentRef('own'),
  tokenSecretRef: { name: 'token-own', key: 'token' },
};

beforeEach(() => {
  harness = new SourceHarness();
});

afterEach(() => harness.controller.stop());

const puts = async (): Promise<string[]> =>
  (await harness.calls()).filter((call) => /^(PUT|POST|DELETE) .*secrets/.test(call));

/** Gives the consent that the condition asks for. */
function consent(): void {
  const digest = /allow-deletion=([0-9a-f]{32})/.exec(harness.ready()?.message ?? '')?.[1] ?? '';
  harness.cluster.put(syncs, 'app', ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'keyframe.dev/allow-deletion': digest };
  });
}

describe('the record of the Secret', () => {
  test('reports for each source where it is, and the source of each key but those of the largest source', async () => {
    await harness.syncedWith([shared, sourceOf('own', { revision: 1 })]);
    expect(harness.annotation('sources')).toEqual({
      own: 'acme/web/own@own#revision/1',
      shared: 'acme/web/shared@shared',
    });
    expect(harness.annotation('origins')).toEqual({ own: ['B', 'D'] });
    expect(harness.annotation('source')).toBeUndefined();
  });

  test('is that of one environment without spec.sources, and goes from the one form to the other and back', async () => {
    harness.putSync({ spec: alone });
    await harness.start();
    const { annotations: before } = harness.target()?.metadata ?? {};
    expect(before).toEqual({ 'keyframe.dev/owned-by': 'app', 'keyframe.dev/source': 'acme/web/own@own' });
    harness.put([shared, own]);
    await harness.calls();
    expect(harness.values()).toEqual(united);
    expect(Object.keys(harness.status()).sort()).toEqual([
      'conditions',
      'lastSyncTime',
      'observedGeneration',
      'secretCount',
      'secretName',
      'source',
      'sources',
      'target',
    ]);
    expect(Object.keys(harness.target()?.metadata.annotations ?? {}).sort()).toEqual([
      'keyframe.dev/origins',
      'keyframe.dev/owned-by',
      'keyframe.dev/sources',
    ]);
    harness.putSync({ spec: alone });
    await harness.calls();
    expect(harness.values()).toEqual(ownValues);
    expect(harness.target()?.metadata.annotations).toEqual(before);
    expect(harness.status()).toMatchObject({ environmentId: 'own', syncedRevision: 1 });
    expect(harness.status().sources).toBeUndefined();
  });

  test('that would be longer than Kubernetes takes is refused in so many words, and nothing is written', async () => {
    const many = (prefix: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 1200 }, (_, n) => [`${prefix}${n}`.padEnd(250, 'x'), '']));
    harness.makeEnvironment('shared', many('s'));
    harness.makeEnvironment('own', many('o'));
    await harness.syncedWith();
    expect(harness.ready()).toMatchObject({ reason: 'TooLarge' });
    expect(harness.ready()?.message).toMatch(/^The annotations of Secret app, .* Kubernetes allows 262144\./);
    expect(harness.target()).toBeUndefined();
    // The sizes decide, so no value is read for it.
    expect(harness.services.reads.flatMap(({ keys }) => keys)).toEqual([]);
  });

  test('that would be too long is judged again by each change of the spec, and once in 10 seconds by changes of a source', async () => {
    const many = (prefix: string, last = ''): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 1200 }, (_, n) => [`${prefix}${n}`.padEnd(250, 'x'), last]));
    harness.makeEnvironment('shared', many('s'));
    harness.makeEnvironment('own', many('o'));
    await harness.syncedWith();
    harness.reconciled.splice(0);
    for (let count = 0; count < 50; count += 1) {
      harness.change('own', many('o', `${count}`));
      await harness.calls();
      await harness.clock.advance(100);
    }
    expect(harness.reconciled).toEqual(['TooLarge']);
    harness.put([shared, own], { maxDeletedKeys: 3 });
    await harness.calls();
    expect(harness.reconciled).toEqual(['TooLarge', 'TooLarge']);
    harness.change('own', ownValues);
    await harness.clock.advance(10_000);
    expect(harness.reconciled).toEqual(['TooLarge', 'TooLarge', 'Synced']);
    // As soon as the Secret is written, each change counts at once.
    for (const D of ['own d2', 'own d3']) {
      harness.change('own', { ...ownValues, D });
      await harness.calls();
      expect(harness.values()).toMatchObject({ D });
    }
  });
});

describe('a source', () => {
  test('that is added, taken out or renamed changes the Secret at once, and no loss counts that is on purpose', async () => {
    await harness.syncedWith([shared], { maxDeletedKeys: 0 });
    expect(harness.values()).toEqual(sharedValues);
    harness.put([shared, own], { maxDeletedKeys: 0 });
    await harness.calls();
    expect(harness.values()).toEqual(united);
    harness.put([shared, { ...own, name: 'special' }], { maxDeletedKeys: 0 });
    await harness.calls();
    expect(harness.ready()?.message).toContain('special at revision 1.');
    expect(harness.status().sources?.map(({ name }) => name)).toEqual(['shared', 'special']);
    harness.put([{ ...own, name: 'special' }], { maxDeletedKeys: 0 });
    await harness.calls();
    expect(harness.values()).toEqual(ownValues);
  });

  test('that is taken out causes no reconcile any more, whatever becomes of it', async () => {
    await harness.syncedWith();
    harness.put([shared]);
    await harness.calls();
    harness.change('own', { D: 'next' });
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'own' });
    harness.cluster.remove('/api/v1/namespaces/ns/secrets/token-own');
    expect(await harness.calls()).toEqual([]);
  });

  test('that is renamed while its environment loses keys does not hide the loss', async () => {
    await harness.syncedWith([shared, own], { maxDeletedKeys: 0 });
    harness.change('own', { B: 'own b' }, { missed: true });
    harness.put([shared, { ...own, name: 'special' }], { maxDeletedKeys: 0 });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    expect(harness.values()).toEqual(united);
  });
});

describe('keys that sources lose', () => {
  test('are counted together, and reported with their sources', async () => {
    await harness.syncedWith();
    harness.change('shared', { B: 'shared b' });
    await harness.calls();
    expect(harness.values()).toEqual({ B: 'own b', D: 'own d' });
    harness.change('shared', sharedValues);
    await harness.calls();
    harness.change('shared', { B: 'shared b' }, { missed: true });
    harness.change('own', { B: 'own b' });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'DeletionBlocked' });
    expect(harness.ready()?.message).toMatch(
      /^The sources of Secret app lack 3 of its 4 keys \(A of shared, C of shared, D of own\), more than spec\.maxDeletedKeys \(50%\) allows\./,
    );
    expect(harness.values()).toEqual(united);
    consent();
    await harness.calls();
    expect(harness.values()).toEqual({ B: 'own b' });
  });

  test('count although an earlier source has another value for them, because the spec does not ask for that one', async () => {
    await harness.syncedWith([shared, own], { maxDeletedKeys: 0 });
    harness.change('own', { D: 'own d' });
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'DeletionBlocked' });
    expect(harness.ready()?.message).toMatch(
      /lack 1 of its 4 keys \(B of own\), .* An earlier source has another value/,
    );
    expect(harness.values()).toEqual(united);
    consent();
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, B: 'shared b' });
  });

  test('do not count where a later source gives them', async () => {
    await harness.syncedWith([shared, own], { maxDeletedKeys: 0 });
    harness.change('own', { ...ownValues, A: 'own a' }, { missed: true });
    harness.change('shared', { B: 'shared b', C: 'shared c' });
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, A: 'own a' });
  });

  test('count, where one source changes on purpose, of the other ones alone', async () => {
    harness.makeEnvironment('other', { O: 'other' });
    await harness.syncedWith([shared, own], { maxDeletedKeys: 0 });
    harness.change('shared', { A: 'shared a' }, { missed: true });
    harness.put([shared, { ...sourceOf('other'), name: 'own' }], { maxDeletedKeys: 0 });
    await harness.calls();
    expect(harness.ready()?.message).toContain('lack 1 of its 4 keys (C of shared)');
    harness.change('shared', sharedValues);
    await harness.calls();
    expect(harness.values()).toEqual({ ...sharedValues, O: 'other' });
  });

  test('count wherever they came from, once the record was removed', async () => {
    await harness.syncedWith([shared, own], { maxDeletedKeys: 0 });
    harness.change('own', { B: 'own b' }, { missed: true });
    harness.edit((secret) => void delete secret.metadata.annotations?.['keyframe.dev/sources']);
    await harness.calls();
    expect(harness.ready()?.message).toContain('lack 1 of its 4 keys (D)');
    expect(await puts()).toEqual([]);
  });
});

describe('an environment that was purged and recreated behind one source', () => {
  test('writes nothing until a user consents, and is reported with the name of the source', async () => {
    await harness.syncedWith();
    harness.makeEnvironment('own', { ...ownValues, D: 'new' }, 'own-again');
    harness.services.notify({ kind: 'environment', environmentId: 'own', revisionId: 'own-r1', ended: true });
    expect(await puts()).toEqual([]);
    expect(harness.ready()).toMatchObject({
      reason: 'SourceReplaced',
      message: expect.stringMatching(
        /^Source own: .* acme\/web\/own .*\(own-again\).* run `kubectl annotate secret -n ns app keyframe\.dev\/sources-`\.$/,
      ),
    });
    harness.edit((secret) => void delete secret.metadata.annotations?.['keyframe.dev/sources']);
    await harness.calls();
    expect(harness.values()).toEqual({ ...united, D: 'new' });
  });

  test('is waited for, and seen as soon as it is there', async () => {
    await harness.syncedWith();
    harness.services.environments.delete(pathOf('own'));
    harness.services.notify({ kind: 'environment', environmentId: 'own', revisionId: 'own-r1', ended: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('NotFound');
    harness.makeEnvironment('own', ownValues, 'own-again');
    harness.services.notify({
      kind: 'environment',
      environmentId: 'own-again',
      revisionId: 'own-again-r1',
      appeared: true,
    });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('SourceReplaced');
  });

  test('is known again though the source was renamed, or spec.sources came', async () => {
    harness.putSync({ spec: alone });
    await harness.start();
    harness.makeEnvironment('own', { ...ownValues, D: 'new' }, 'own-again');
    harness.put([shared, { ...own, name: 'special' }]);
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'SourceReplaced' });
    expect(harness.values()).toEqual(ownValues);
  });
});
