import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { VersionView } from '../../../src/wire/versions.ts';
import { expectProblem } from '../../support/api/http.ts';
import { ContractSite, type Place, instant, notDestroyed } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: ContractSite;
let place: Place;

beforeAll(async () => {
  site = await ContractSite.start();
});

beforeEach(async () => {
  place = await site.newEnvironment();
});

afterAll(() => site.close());

describe('the history of a secret over HTTP', () => {
  test(sentence('4.6.1', 'http'), async () => {
    const { client, id, email } = site.owner;
    const path = `/secrets/${place.path}/KEY`;
    await client.expectStatus(201, 'PUT', path, { value: 'one' });
    await client.expectStatus(200, 'PUT', path, { value: 'two', comment: 'a reason' });
    const answer = await client.send('GET', `/versions/${place.path}/KEY`);
    const rest = {
      changedBy: id,
      changedByType: 'user',
      changedByName: email,
      createdAt: expect.stringMatching(instant),
      ...notDestroyed,
    };
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        versions: [
          { version: 2, changeType: 'updated', comment: 'a reason', ...rest },
          { version: 1, changeType: 'created', comment: null, ...rest },
        ],
        nextCursor: null,
      },
    ]);
    await expectProblem(client.send('GET', `/versions/${place.path}/NONE`), 'not_found');
  });

  test(sentence('4.6.2', 'http'), async () => {
    const count = 25;
    for (let version = 1; version <= count; version += 1) await place.set({ KEY: `value ${version}` });
    const versions = await place.history('KEY');
    expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: count }, (_, index) => count - index));
    const times = versions.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test(sentence('4.7.1', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const path = `/versions/${place.path}/KEY/rollback`;
    const { client } = site.owner;
    for (const body of [{}, ...['1', 1.5, 0, -1, null, true].map((targetVersion) => ({ targetVersion }))]) {
      const reported = await expectProblem(client.send('POST', path, body), 'invalid_input');
      expect([reported.status, reported.errors?.map(({ field }) => field)]).toEqual([422, ['targetVersion']]);
    }
    expect(await client.expectStatus(201, 'POST', path, { targetVersion: 1 })).toMatchObject({ version: 3 });
    expect(await place.values()).toEqual({ KEY: 'one' });
  });

  test(sentence('4.7.2', 'http'), async () => {
    for (const value of ['one', 'two', 'three']) await place.set({ KEY: value });
    const { revision } = await place.list();
    const answer = await site.owner.client.send('POST', `/versions/${place.path}/KEY/rollback`, { targetVersion: 1 });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        version: 4,
        changeType: 'rolled_back',
        changedBy: site.owner.id,
        changedByType: 'user',
        changedByName: site.owner.email,
        comment: null,
        createdAt: expect.stringMatching(instant),
        ...notDestroyed,
        revision: revision + 1,
        revisionId: (await place.list()).revisionId,
      },
    ]);
    expect((await place.list()).secrets).toMatchObject([{ key: 'KEY', value: 'one', version: 4 }]);
  });

  test(sentence('4.7.3', 'http'), async () => {
    for (const value of ['one', 'two', 'three']) await place.set({ KEY: value, OTHER: value });
    const before = { KEY: await place.history('KEY'), OTHER: await place.history('OTHER') };
    await place.rollback('KEY', 1);
    const after: readonly VersionView[] = await place.history('KEY');
    expect(after).toHaveLength(4);
    expect(after.slice(1)).toEqual(before.KEY);
    expect(await place.history('OTHER')).toEqual(before.OTHER);
    const reported = await place.versionRows('KEY');
    expect(reported.map(([, , value]) => value)).toEqual(['one', 'three', 'two', 'one']);
  });

  test(sentence('4.7.4', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const answer = await site.owner.client.send('POST', `/versions/${place.path}/KEY/rollback`, { targetVersion: 1 });
    const { revision, revisionId } = await place.list();
    expect(await site.audited(answer)).toEqual([
      expect.objectContaining({
        actor: { type: 'user', id: site.owner.id, name: site.owner.email },
        action: 'version.rollback',
        target: expect.objectContaining({ ...place.target, key: 'KEY', targetVersion: 1, revision, revisionId }),
        outcome: 'success',
        label: null,
      }),
    ]);
  });

  test(sentence('7.3', 'http'), async () => {
    await place.set({ KEY: 'one' });
    const path = `/versions/${place.path}/KEY/rollback`;
    const reported = await expectProblem(site.owner.client.send('POST', path, {}), 'invalid_input');
    expect([reported.status, reported.errors]).toEqual([422, [{ field: 'targetVersion', message: 'is required' }]]);
    expect((await expectProblem(site.owner.client.send('POST', path), 'malformed_request')).status).toBe(400);
    expect(await place.versionRows('KEY')).toEqual([[1, 'created', 'one']]);
  });

  test(sentence('9.2', 'http'), async () => {
    await place.set({ KEY: 'one' });
    const snapshot = await place.snapshot();
    await place.set({ KEY: 'two' });
    await place.set({ OTHER: 'other' });
    await place.rollback('KEY', 1);
    await place.restore(snapshot.id);
    await place.set({ KEY: 'two' });
    expect((await place.versionRows('KEY')).map(([version, kind]) => [version, kind])).toEqual([
      [5, 'updated'],
      [4, 'rolled_back'],
      [3, 'rolled_back'],
      [2, 'updated'],
      [1, 'created'],
    ]);
    expect(await place.versionRows('OTHER')).toEqual([[1, 'created', 'other']]);
  });

  test(sentence('9.3', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const before = await place.history('KEY');
    await place.remove('KEY');
    expect(await place.history('KEY')).toEqual(before);
    expect((await site.stored.versions(place.id, 'KEY')).map(({ version }) => version)).toEqual([2, 1]);
    // Created again it goes on counting, so that no number is ever taken twice.
    await place.set({ KEY: 'three' });
    expect(await place.versionRows('KEY')).toEqual([
      [3, 'created', 'three'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
  });
});
