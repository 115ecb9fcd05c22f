import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type HttpClient, expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Place, notDestroyed } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: ContractSite;
let place: Place;
let owner: HttpClient;
let path: string;

beforeAll(async () => {
  site = await ContractSite.start();
  owner = site.owner.client;
});

beforeEach(async () => {
  place = await site.newEnvironment();
  path = `/snapshots/${place.path}/restore`;
});

afterAll(() => site.close());

describe('restores from snapshots over HTTP', () => {
  test(sentence('3.4', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const { id } = await place.snapshot();
    await place.set({ KEY: 'three' });
    const answer = await owner.send('POST', path, { snapshotId: id });
    expect(answer.status).toBe(200);
    expect(await place.versionRows('KEY')).toEqual([
      [4, 'rolled_back', 'two'],
      [3, 'updated', 'three'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
    expect(await place.values()).toEqual({ KEY: 'two' });
    expect(await site.audited(answer)).toMatchObject([{ action: 'snapshot.restore', outcome: 'success' }]);
  });

  test(sentence('3.6', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one', C: 'c one' });
    const { id } = await place.snapshot();
    await place.set({ A: 'a two', C: 'c two' });
    await place.remove('B');
    expect(await place.restore(id)).toMatchObject({ restored: ['A', 'C'], skipped: ['B'] });
    expect(await place.values()).toEqual({ A: 'a one', C: 'c one' });
    expect(await place.versionRows('B')).toEqual([[1, 'created', 'b one']]);
  });

  test(sentence('4.3.1', 'http'), async () => {
    await place.set({ KEY: 'one' });
    const { id } = await place.snapshot();
    const elsewhere = await (await site.newEnvironment()).snapshot();
    await place.set({ KEY: 'two' });
    for (const body of [{}, { snapshotId: 'release' }, { snapshotId: 7 }, { snapshotId: null }]) {
      const reported = await expectProblem(owner.send('POST', path, body), 'invalid_input');
      expect([reported.status, reported.errors?.map(({ field }) => field)]).toEqual([422, ['snapshotId']]);
    }
    expect((await expectProblem(owner.send('POST', path), 'malformed_request')).status).toBe(400);
    for (const snapshotId of [elsewhere.id, '01234567-89ab-4def-8123-456789abcdef']) {
      expect((await expectProblem(owner.send('POST', path, { snapshotId }), 'not_found')).status).toBe(404);
    }
    expect(await place.values()).toEqual({ KEY: 'two' });
    const { revision } = await place.list();
    const answer = await owner.send('POST', path, { snapshotId: id });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        restored: ['KEY'],
        unchanged: [],
        skipped: [],
        recreated: [],
        destroyed: [],
        pruned: [],
        backupSnapshotId: null,
        revision: revision + 1,
        revisionId: (await place.list()).revisionId,
      },
    ]);
    expect(await place.values()).toEqual({ KEY: 'one' });
  });

  test(sentence('4.3.2', 'http'), async () => {
    const taken = { CHANGED: 'one', TWICE: 'two', SAME: 'three', EMPTY: '', LONG: 'ü\u{1f511}\n'.repeat(5_000) };
    await place.set(taken);
    const { id } = await place.snapshot();
    await place.set({ CHANGED: 'changed', TWICE: 'once', EMPTY: 'no more', LONG: 'short' });
    await place.set({ TWICE: 'and again' });
    expect(await place.restore(id)).toMatchObject({ restored: ['CHANGED', 'EMPTY', 'LONG', 'SAME', 'TWICE'] });
    expect(await place.values()).toEqual(taken);
  });

  test(sentence('4.3.3', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one' });
    await place.set({ B: 'b two' });
    const { id } = await place.snapshot();
    await place.set({ A: 'a two', B: 'b three' });
    await place.restore(id);
    const named = `SELECT s.key, v.ciphertext, v.data_key_id FROM snapshot_entry n JOIN secret s ON s.id = n.secret_id
                     JOIN secret_version v ON v.id = n.version_id WHERE n.snapshot_id = $1 ORDER BY s.key`;
    interface Entry {
      readonly key: string;
      readonly ciphertext: Buffer;
      readonly data_key_id: string;
    }
    const entries = await site.stored.query<Entry & Record<string, unknown>>(named, [id]);
    expect(entries.map(({ key }) => key)).toEqual(['A', 'B']);
    for (const { key, ciphertext, data_key_id: dataKeyId } of entries) {
      const [current] = await site.stored.versions(place.id, key);
      // The same bytes as in the version of the snapshot, in a new row.
      expect(current).toMatchObject({ isCurrent: true, dataKeyId });
      expect(current?.sealed.equals(ciphertext)).toBe(true);
    }
    expect(await place.values()).toEqual({ A: 'a one', B: 'b two' });
  });

  test(sentence('4.3.4', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one', SAME: 'same' });
    const { id } = await place.snapshot();
    await place.set({ A: 'a two' });
    await place.set({ A: 'a three', B: 'b two' });
    await place.restore(id);
    const newest = await Promise.all(['A', 'B', 'SAME'].map(async (key) => (await place.history(key))[0]));
    const { owner: actor } = site;
    expect(newest).toEqual(
      [4, 3, 2].map((version) => ({
        version,
        changeType: 'rolled_back',
        changedBy: actor.id,
        changedByType: 'user',
        changedByName: actor.email,
        comment: `restored from snapshot ${id}`,
        createdAt: expect.any(String),
        ...notDestroyed,
      })),
    );
    expect((await place.list()).secrets.map(({ key, version }) => [key, version])).toEqual([
      ['A', 4],
      ['B', 3],
      ['SAME', 2],
    ]);
  });

  test(sentence('4.3.5', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one' });
    const { id } = await place.snapshot();
    await place.set({ A: 'a two' });
    await place.remove('B');
    const answer = await owner.send('POST', path, { snapshotId: id });
    const { revision, revisionId } = await place.list();
    expect(await site.audited(answer)).toEqual([
      expect.objectContaining({
        actor: { type: 'user', id: site.owner.id, name: site.owner.email },
        action: 'snapshot.restore',
        target: expect.objectContaining({ ...place.target, snapshotId: id, revision, revisionId }),
        outcome: 'success',
        sourceAddress: '127.0.0.1',
        label: null,
      }),
    ]);
  });

  test(sentence('4.3.6', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one', C: 'c one', AGAIN: 'again one' });
    const { id } = await place.snapshot();
    await place.remove('A', 'C', 'AGAIN');
    await place.set({ B: 'b two', AGAIN: 'again two' });
    // What was deleted and created again exists, so it is restored.
    expect(await place.restore(id)).toMatchObject({ restored: ['AGAIN', 'B'], skipped: ['A', 'C'] });
    expect(await place.values()).toEqual({ AGAIN: 'again one', B: 'b one' });
    await expectProblem(owner.send('GET', `/secrets/${place.path}/A`), 'not_found');
    expect(await place.versionRows('C')).toEqual([[1, 'created', 'c one']]);
  });

  test(sentence('4.3.7', 'http'), async () => {
    await place.set({ KEY: 'one' });
    const { id } = await place.snapshot();
    await place.set({ KEY: 'two' });
    await place.set({ KEY: 'three', LATER: 'later' });
    const before = await place.history('KEY');
    const rows = await site.stored.versions(place.id, 'KEY');
    await place.restore(id);
    await place.restore(id);
    expect((await place.history('KEY')).slice(2)).toEqual(before);
    const still = (await site.stored.versions(place.id, 'KEY')).slice(2);
    expect(still).toEqual(rows.map((row) => ({ ...row, isCurrent: false })));
    expect((await place.versionRows('KEY')).map(([, , value]) => value)).toEqual(['one', 'one', 'three', 'two', 'one']);
    // What came after the snapshot stays as well.
    expect(await place.versionRows('LATER')).toEqual([[1, 'created', 'later']]);
  });

  test(sentence('7.2', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one' });
    const { id } = await place.snapshot();
    await place.set({ B: 'b two' });
    await place.remove('A');
    const some = await owner.send('POST', path, { snapshotId: id });
    expect([some.status, some.body]).toEqual([200, expect.objectContaining({ restored: ['B'], skipped: ['A'] })]);
    await place.remove('B');
    const { revision, revisionId } = await place.list();
    const none = await owner.send('POST', path, { snapshotId: id });
    const nothing = {
      restored: [],
      unchanged: [],
      skipped: ['A', 'B'],
      recreated: [],
      destroyed: [],
      pruned: [],
      backupSnapshotId: null,
    };
    expect([none.status, none.body]).toEqual([200, { ...nothing, revision, revisionId }]);
    expect(await place.values()).toEqual({});
  });
});
