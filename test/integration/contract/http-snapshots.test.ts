import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { SnapshotView } from '../../../src/wire/snapshots.ts';
import { type HttpClient, expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Place, expectBetween, instant, uuid } from './contract-site.ts';
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
  path = `/snapshots/${place.path}`;
});

afterAll(() => site.close());

async function list(): Promise<readonly SnapshotView[]> {
  return (await owner.expectStatus<{ snapshots: SnapshotView[] }>(200, 'GET', path)).snapshots;
}

describe('snapshots over HTTP', () => {
  test(sentence('1.2', 'http'), async () => {
    const other = await site.newEnvironment();
    await place.set({ A: 'a one', B: 'b one' });
    await other.set({ A: 'elsewhere' });
    const snapshot = await place.snapshot();
    await place.set({ A: 'a two' });
    await place.set({ A: 'a three', B: 'b two' });
    await other.set({ A: 'elsewhere still' });
    await place.restore(snapshot.id);
    expect(await place.values()).toEqual({ A: 'a one', B: 'b one' });
    expect(await other.values()).toEqual({ A: 'elsewhere still' });
    await expectProblem(owner.send('GET', `/snapshots/${other.path}/${snapshot.id}`), 'not_found');
  });

  test(sentence('2.1.id', 'http'), async () => {
    const [first, second] = [await place.snapshot(), await place.snapshot()];
    expect([first.id, second.id]).toEqual([expect.stringMatching(uuid), expect.stringMatching(uuid)]);
    expect(first.id).not.toBe(second.id);
    for (const made of [first, second]) {
      expect(await owner.expectStatus(200, 'GET', `${path}/${made.id}`)).toEqual(made);
    }
  });

  test(sentence('2.1.name', 'http'), async () => {
    const named = await place.snapshot({ name: 'Before «release» 4.2' });
    const unnamed = await place.snapshot({ description: 'without a name' });
    expect([named.name, unnamed.name]).toEqual(['Before «release» 4.2', null]);
    expect((await list()).map(({ name }) => name)).toEqual([null, 'Before «release» 4.2']);
  });

  test(sentence('2.1.description', 'http'), async () => {
    const described = await place.snapshot({ name: 'one', description: 'Taken before the migration.' });
    const undescribed = await place.snapshot({ name: 'two' });
    expect([described.description, undescribed.description]).toEqual(['Taken before the migration.', null]);
    expect((await list()).map(({ description }) => description)).toEqual([null, 'Taken before the migration.']);
  });

  test(sentence('2.1.createdBy', 'http'), async () => {
    const developer = await site.newMember('developer');
    await developer.client.expectStatus(201, 'POST', path, {});
    await place.snapshot();
    expect((await list()).map(({ createdBy }) => createdBy)).toEqual([site.owner.id, developer.id]);
    expect(developer.id).toMatch(uuid);
  });

  test(sentence('2.1.createdAt', 'http'), async () => {
    const from = Date.now();
    const { createdAt } = await place.snapshot();
    expectBetween(createdAt, [from, Date.now()]);
    expect((await list()).map((snapshot) => snapshot.createdAt)).toEqual([createdAt]);
  });

  test(sentence('2.1.content', 'http'), async () => {
    await place.set({ A: 'a one', B: 'b one', GONE: 'gone' });
    await place.set({ B: 'b two' });
    await place.remove('GONE');
    const [[a], [b]] = [await site.stored.versions(place.id, 'A'), await site.stored.versions(place.id, 'B')];
    const { id } = await place.snapshot();
    await place.set({ A: 'a two', NEW: 'new' });
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
    const one = await owner.send('GET', `${path}/${id}`);
    expect(one.text).not.toMatch(/a one|b two|value/);
  });

  test(sentence('3.8', 'http'), async () => {
    await place.set({ A: 'a one' });
    const made = await place.snapshot({ name: 'first' });
    for (const method of ['PUT', 'PATCH', 'POST']) {
      const answer = await owner.send(method, `${path}/${made.id}`, { name: 'second' });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE']);
    }
    await place.set({ A: 'a two' });
    await place.restore(made.id);
    await place.remove('A');
    await place.set({ A: 'a three' });
    expect(await list()).toEqual([made]);
    await place.restore(made.id);
    expect(await place.values()).toEqual({ A: 'a one' });
  });

  test(sentence('4.1.1', 'http'), async () => {
    await place.set({ A: 'a', B: 'b' });
    const { revision, revisionId } = await place.list();
    const answer = await owner.send('POST', path, { name: 'release', description: 'of May' });
    const made = answer.body as SnapshotView;
    expect([answer.status, made]).toEqual([
      201,
      {
        id: expect.stringMatching(uuid),
        name: 'release',
        description: 'of May',
        createdBy: site.owner.id,
        createdByType: 'user',
        createdByName: site.owner.email,
        createdAt: expect.stringMatching(instant),
        secretCount: 2,
        revision,
        revisionId,
      },
    ]);
    expect(answer.headers.get('location')).toBe(`/api/v1${path}/${made.id}`);
    expect(await list()).toEqual([made]);
  });

  test(sentence('4.1.2', 'http'), async () => {
    const body = JSON.stringify({ name: 'release' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const reported = await expectProblem(
        owner.send('POST', path, body, { 'content-type': type }),
        'unsupported_media_type',
      );
      expect(reported.status).toBe(415);
    }
    expect(await list()).toEqual([]);
    for (const type of ['application/json', 'application/json; charset=utf-8']) {
      const answer = await owner.send('POST', path, body, { 'content-type': type });
      expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ name: 'release' })]);
    }
  });

  test(sentence('4.1.3', 'http'), async () => {
    const bodies: readonly (readonly [unknown, string | null])[] = [
      [{ name: 'release' }, 'release'],
      [{}, null],
      [undefined, null],
    ];
    for (const [body, name] of bodies)
      expect(await owner.expectStatus(201, 'POST', path, body)).toMatchObject({ name });
    for (const name of [7, true, null, ['release'], '']) {
      const reported = await expectProblem(owner.send('POST', path, { name }), 'invalid_input');
      expect([reported.status, reported.errors?.map(({ field }) => field)]).toEqual([422, ['name']]);
    }
    expect(await list()).toHaveLength(3);
  });

  test(sentence('4.2', 'http'), async () => {
    expect(await owner.expectStatus(200, 'GET', path)).toEqual({ snapshots: [], nextCursor: null });
    const first = await place.snapshot({ name: 'first', description: 'the first' });
    await place.set({ A: 'a' });
    const second = await place.snapshot();
    const answer = await owner.send('GET', path);
    expect([answer.status, answer.body]).toEqual([200, { snapshots: [second, first], nextCursor: null }]);
    expect(first).toMatchObject({
      id: expect.stringMatching(uuid),
      name: 'first',
      description: 'the first',
      createdBy: site.owner.id,
      createdAt: expect.stringMatching(instant),
    });
    expect(second).toMatchObject({ name: null, description: null });
  });
});
