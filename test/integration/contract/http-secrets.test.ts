import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expectProblem } from '../../support/api/http.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import { findLeaks } from '../../support/fixtures/leak-search.ts';
import { ContractSite, type Place, expectBetween, instant, notDestroyed, uuid } from './contract-site.ts';
import { bindingBytes, decrypt } from './stored-values.ts';

let site: ContractSite;
let place: Place;

beforeAll(async () => {
  site = await ContractSite.start();
});

beforeEach(async () => {
  place = await site.newEnvironment();
});

afterAll(() => site.close());

describe('the versions of a secret', () => {
  test(`count its changes, and stay when it is deleted ${sentence('1.1', '2.2.version', '2.2.changeType', '3.1', '3.2', '3.3', '3.5', '4.7.3', '9.2', '9.3')}`, async () => {
    const { client } = site.owner;
    const path = `/secrets/${place.path}`;
    await expectProblem(client.send('GET', `/versions/${place.path}/KEY`), 'not_found');
    await client.expectStatus(201, 'PUT', `${path}/KEY`, { value: 'one' });
    expect(await place.versionRows('KEY')).toEqual([[1, 'created', 'one']]);
    await client.expectStatus(200, 'PUT', `${path}/KEY`, { value: 'two' });
    await client.expectStatus(200, 'PATCH', path, { set: { KEY: 'three', OTHER: 'other' } });
    await expectProblem(client.send('POST', `/versions/${place.path}/KEY/rollback`, { targetVersion: 4 }), 'not_found');
    const before = await place.history('KEY');
    await place.rollback('KEY', 1);
    expect((await place.history('KEY')).slice(1)).toEqual(before);
    expect(await place.values()).toEqual({ KEY: 'one', OTHER: 'other' });
    const kept = await place.versionRows('KEY');
    expect(kept).toEqual([
      [4, 'rolled_back', 'one'],
      [3, 'updated', 'three'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
    await client.expectStatus(204, 'DELETE', `${path}/KEY`);
    await expectProblem(client.send('GET', `${path}/KEY`), 'not_found');
    expect(await place.versionRows('KEY')).toEqual(kept);
    // Created again it goes on counting, so that no number is ever taken twice.
    await place.set({ KEY: 'five' });
    expect(await place.versionRows('KEY')).toEqual([[5, 'created', 'five'], ...kept]);
    expect(await place.versionRows('OTHER')).toEqual([[1, 'created', 'other']]);
  });

  test(`say who made each, when and why, newest first ${sentence('2.2.changedBy', '2.2.comment', '2.2.createdAt', '4.6.1', '4.6.2')}`, async () => {
    const developer = await site.newMember('developer');
    const comment = 'Rotated, as «every» quarter: 50% done; see https://example.test/?a=1';
    const path = `/secrets/${place.path}/KEY`;
    const times = [Date.now()];
    await site.owner.client.expectStatus(201, 'PUT', path, { value: 'one', comment });
    times.push(Date.now());
    await developer.client.expectStatus(200, 'PUT', path, { value: 'two' });
    times.push(Date.now());
    const answer = await site.owner.client.send('GET', `/versions/${place.path}/KEY`);
    const by = { changedByType: 'user', changedByCluster: null };
    const rest = { ...by, createdAt: expect.stringMatching(instant), ...notDestroyed };
    const { owner } = site;
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        versions: [
          {
            version: 2,
            changeType: 'updated',
            changedBy: developer.id,
            changedByName: developer.email,
            comment: null,
            ...rest,
          },
          { version: 1, changeType: 'created', changedBy: owner.id, changedByName: owner.email, comment, ...rest },
        ],
        deletedAt: null,
        deletedBy: null,
        deletedByType: null,
        deletedByName: null,
        deletedByCluster: null,
        nextCursor: null,
      },
    ]);
    const [second, first] = await place.history('KEY');
    expectBetween(first?.createdAt ?? '', [times[0] ?? 0, times[1] ?? 0]);
    expectBetween(second?.createdAt ?? '', [times[1] ?? 0, times[2] ?? 0]);
  });

  test(`are rolled back to only by a whole number that is given ${sentence('4.7.1', '7.3')}`, async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const path = `/versions/${place.path}/KEY/rollback`;
    const { client } = site.owner;
    for (const body of [{}, ...['1', 1.5, 0, null].map((targetVersion) => ({ targetVersion }))]) {
      const reported = await expectProblem(client.send('POST', path, body), 'invalid_input');
      expect([reported.status, reported.errors?.map(({ field }) => field)]).toEqual([422, ['targetVersion']]);
    }
    expect((await expectProblem(client.send('POST', path), 'malformed_request')).status).toBe(400);
    expect(await place.values()).toEqual({ KEY: 'two' });
    expect(await client.expectStatus(201, 'POST', path, { targetVersion: 1 })).toMatchObject({ version: 3 });
  });
});

describe('what is stored', () => {
  test(`of a value is AES-256-GCM, bound to its place ${sentence('1.4', '2.2.value', '2.3')}`, async () => {
    const [first, second] = [new Canary(), new Canary()];
    await place.set({ KEY: first.value, OTHER: second.value });
    await place.set({ KEY: second.value });
    const history = await site.owner.client.send('GET', `/versions/${place.path}/KEY`);
    for (const { value } of [first, second]) expect(history.text).not.toContain(value);
    const [current, old] = await site.stored.versions(place.id, 'KEY');
    const [other] = await site.stored.versions(place.id, 'OTHER');
    if (current === undefined || old === undefined || other === undefined) throw new Error('a version has no row');
    expect([current, old].map(({ version, isCurrent }) => [version, isCurrent])).toEqual([
      [2, true],
      [1, false],
    ]);
    expect(current.binding.slice(0, 3)).toEqual([site.organization.id, site.project.id, place.id]);
    expect(await site.stored.value(current)).toBe(second.value);
    expect(await site.stored.value(old)).toBe(first.value);
    // Equal values differ in their bytes, and each opens under its key and in its place alone.
    expect(current.sealed.equals(other.sealed)).toBe(false);
    const key = await site.stored.dataKey(old);
    expect(key).toHaveLength(32);
    const altered = Buffer.from(old.sealed);
    altered.writeUInt8(altered.readUInt8(altered.length - 1) ^ 1, altered.length - 1);
    const wrong: readonly (readonly [Buffer, Buffer, Buffer])[] = [
      [Buffer.alloc(32, 1), old.sealed, bindingBytes(old.binding)],
      [key, old.sealed, bindingBytes(other.binding)],
      [key, altered, bindingBytes(old.binding)],
    ];
    for (const parts of wrong) expect(() => decrypt(...parts)).toThrow('unable to authenticate data');
    for (const canary of [first, second]) {
      expect(await findLeaks(canary, [databaseRows(site.database.url), databaseBytes(site.database.url)])).toEqual([]);
    }
  });

  test(`of a snapshot is the id of each key’s version, and a restore takes its bytes ${sentence('2.1.content', '4.3.3')}`, async () => {
    await place.set({ A: 'a one', B: 'b one', GONE: 'gone' });
    await place.set({ B: 'b two' });
    await place.remove('GONE');
    const [[a], [b]] = [await site.stored.versions(place.id, 'A'), await site.stored.versions(place.id, 'B')];
    const { id } = await place.snapshot();
    await place.set({ A: 'a two', B: 'b three', NEW: 'new' });
    const entries = `SELECT s.key, n.version_id FROM snapshot_entry n JOIN secret s ON s.id = n.secret_id
                      WHERE n.snapshot_id = $1 ORDER BY s.key`;
    expect(await site.stored.query(entries, [id])).toEqual([
      { key: 'A', version_id: a?.id },
      { key: 'B', version_id: b?.id },
    ]);
    const columns = `SELECT column_name FROM information_schema.columns WHERE table_name = $1 ORDER BY column_name`;
    expect(await site.stored.query(columns, ['snapshot_entry'])).toEqual(
      ['secret_id', 'snapshot_id', 'version_id'].map((name) => ({ column_name: name })),
    );
    expect((await site.owner.client.send('GET', `/snapshots/${place.path}/${id}`)).text).not.toMatch(/a one|b two/);
    await place.restore(id);
    for (const [key, taken] of [
      ['A', a],
      ['B', b],
    ] as const) {
      const [current] = await site.stored.versions(place.id, key);
      expect(current).toMatchObject({ isCurrent: true, dataKeyId: taken?.dataKeyId });
      expect(current?.sealed.equals(taken?.sealed ?? Buffer.of())).toBe(true);
    }
    expect(await place.values()).toEqual({ A: 'a one', B: 'b two', NEW: 'new' });
  });
});

describe('a snapshot', () => {
  test(`has an id, a name and a description or null, its user and its time ${sentence('2.1.id', '2.1.name', '2.1.description', '2.1.createdBy', '2.1.createdAt', '4.1.3', '4.2')}`, async () => {
    const path = `/snapshots/${place.path}`;
    expect(await site.owner.client.expectStatus(200, 'GET', path)).toEqual({ snapshots: [], nextCursor: null });
    const developer = await site.newMember('developer');
    const from = Date.now();
    const named = await place.snapshot({ name: 'Before «release» 4.2', description: 'Taken before the migration.' });
    await developer.client.expectStatus(201, 'POST', path, {});
    const to = Date.now();
    const { snapshots } = await site.owner.client.expectStatus<{ snapshots: (typeof named)[] }>(200, 'GET', path);
    expect(snapshots.map(({ name, description, createdBy }) => [name, description, createdBy])).toEqual([
      [null, null, developer.id],
      ['Before «release» 4.2', 'Taken before the migration.', site.owner.id],
    ]);
    for (const { id, createdAt } of snapshots) {
      expect(id).toMatch(uuid);
      expectBetween(createdAt, [from, to]);
    }
    expect(snapshots[1]).toEqual(named);
    expect(snapshots[0]?.id).not.toBe(named.id);
  });

  test(`restores each secret that still exists, as a new version, and never changes ${sentence('1.2', '3.4', '3.6', '3.8', '4.3.2', '4.3.4', '4.3.6', '4.3.7', '7.2')}`, async () => {
    const other = await site.newEnvironment();
    await other.set({ A: 'elsewhere' });
    await place.set({ A: 'a one', B: 'b one', AGAIN: 'again one', GONE: 'gone', SAME: 'ü\u{1f511}\n', EMPTY: '' });
    const made = await place.snapshot({ name: 'first' });
    for (const method of ['PUT', 'PATCH', 'POST']) {
      const answer = await site.owner.client.send(method, `/snapshots/${place.path}/${made.id}`, { name: 'second' });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE']);
    }
    await other.set({ A: 'elsewhere still' });
    await place.remove('GONE', 'AGAIN');
    await place.set({ A: 'a two', B: 'b two', AGAIN: 'again two', EMPTY: 'no more', LATER: 'later' });
    await place.set({ A: 'a three' });
    const before = await place.history('A');
    // What was deleted and created again exists, so it is restored.
    const answer = await place.restore(made.id);
    expect(answer).toMatchObject({ restored: ['A', 'AGAIN', 'B', 'EMPTY', 'SAME'], skipped: ['GONE'] });
    expect(await place.values()).toEqual({
      A: 'a one',
      B: 'b one',
      AGAIN: 'again one',
      SAME: 'ü\u{1f511}\n',
      EMPTY: '',
      LATER: 'later',
    });
    const [newest, ...older] = await place.history('A');
    expect(older).toEqual(before);
    expect(newest).toMatchObject({ version: 4, changeType: 'rolled_back', changedBy: site.owner.id });
    expect(newest?.comment).toBe(`restored from snapshot ${made.id}`);
    expect(await place.versionRows('SAME')).toEqual([
      [2, 'rolled_back', 'ü\u{1f511}\n'],
      [1, 'created', 'ü\u{1f511}\n'],
    ]);
    expect(await place.versionRows('GONE')).toEqual([[1, 'created', 'gone']]);
    expect(await place.versionRows('LATER')).toEqual([[1, 'created', 'later']]);
    expect(await other.values()).toEqual({ A: 'elsewhere still' });
    expect(await site.owner.client.expectStatus(200, 'GET', `/snapshots/${place.path}`)).toMatchObject({
      snapshots: [made],
    });
    await place.remove('A', 'AGAIN', 'B', 'EMPTY', 'SAME', 'LATER');
    expect(await place.restore(made.id)).toMatchObject({
      restored: [],
      skipped: ['A', 'AGAIN', 'B', 'EMPTY', 'GONE', 'SAME'],
    });
    expect(await place.values()).toEqual({});
  });
});
