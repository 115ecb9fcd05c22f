import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Canary } from '../../support/fixtures/canary.ts';
import { expectProblem } from '../../support/api/http.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import { findLeaks } from '../../support/fixtures/leak-search.ts';
import { ContractSite, type Place, expectBetween, instant, uuid } from './contract-site.ts';
import { sentence } from './sentence.ts';
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

describe('secrets over HTTP', () => {
  test(sentence('1.1', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    await place.rollback('KEY', 1);
    expect(await place.versionRows('KEY')).toEqual([
      [3, 'rolled_back', 'one'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
  });

  test(sentence('1.4', 'http'), async () => {
    const [first, second] = [new Canary(), new Canary()];
    await place.set({ KEY: first.value, OTHER: second.value });
    await place.set({ KEY: second.value });
    const [current, old] = await site.stored.versions(place.id, 'KEY');
    const [other] = await site.stored.versions(place.id, 'OTHER');
    if (current === undefined || old === undefined || other === undefined) throw new Error('a version has no row');
    expect([current, old].map(({ version, isCurrent }) => [version, isCurrent])).toEqual([
      [2, true],
      [1, false],
    ]);
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

  test(sentence('2.2.version', 'http'), async () => {
    await place.set({ KEY: 'one' });
    expect((await place.history('KEY')).map(({ version }) => version)).toEqual([1]);
    await place.set({ KEY: 'two' });
    await place.set({ KEY: 'three' });
    expect((await place.history('KEY')).map(({ version }) => version)).toEqual([3, 2, 1]);
  });

  test(sentence('2.2.changeType', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    await place.rollback('KEY', 1);
    const snapshot = await place.snapshot();
    await place.restore(snapshot.id);
    const kinds = (await place.history('KEY')).map(({ changeType }) => changeType);
    expect(kinds).toEqual(['rolled_back', 'rolled_back', 'updated', 'created']);
    const { text } = await site.client().request('GET', '/openapi.json');
    const reported = Array.from(text.matchAll(/"changeType":(\{.*?\})/g), ([, schema = '']) => JSON.parse(schema));
    expect(reported).not.toEqual([]);
    for (const schema of reported)
      expect(schema).toEqual({ type: 'string', enum: ['created', 'updated', 'rolled_back'] });
  });

  test(sentence('2.2.changedBy', 'http'), async () => {
    const developer = await site.newMember('developer');
    await place.set({ KEY: 'one' });
    await developer.client.expectStatus(200, 'PUT', `/secrets/${place.path}/KEY`, { value: 'two' });
    await place.rollback('KEY', 1);
    const { owner } = site;
    expect((await place.history('KEY')).map(({ changedBy }) => changedBy)).toEqual([owner.id, developer.id, owner.id]);
    expect(developer.id).toMatch(uuid);
  });

  test(sentence('2.2.comment', 'http'), async () => {
    const path = `/secrets/${place.path}/KEY`;
    const comment = 'Rotated, as «every» quarter: 50% done; see https://example.test/?a=1';
    await site.owner.client.expectStatus(201, 'PUT', path, { value: 'one', comment });
    await site.owner.client.expectStatus(200, 'PUT', path, { value: 'two' });
    expect((await place.history('KEY')).map((version) => version.comment)).toEqual([null, comment]);
  });

  test(sentence('2.2.createdAt', 'http'), async () => {
    const times: (readonly [number, number])[] = [];
    for (const value of ['one', 'two']) {
      const from = Date.now();
      await place.set({ KEY: value });
      times.unshift([from, Date.now()]);
    }
    const versions = await place.history('KEY');
    expect(versions).toHaveLength(2);
    for (const [index, { createdAt }] of versions.entries()) expectBetween(createdAt, times[index] ?? [0, 0]);
  });

  test(sentence('2.2.value', 'http'), async () => {
    for (const value of ['value one', 'value two', 'value three']) await place.set({ KEY: value });
    const history = await site.owner.client.send('GET', `/versions/${place.path}/KEY`);
    expect(history.status).toBe(200);
    expect(history.text).not.toMatch(/value/i);
    const rows = await site.stored.versions(place.id, 'KEY');
    expect(await Promise.all(rows.map((row) => site.stored.value(row)))).toEqual([
      'value three',
      'value two',
      'value one',
    ]);
    expect(new Set(rows.map(({ sealed }) => sealed.toString('hex'))).size).toBe(3);
  });

  test(sentence('2.3', 'http'), async () => {
    const other = await site.newEnvironment();
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two', OTHER: 'three' });
    await other.set({ KEY: 'elsewhere' });
    const { client } = site.owner;
    expect(await client.expectStatus(200, 'GET', `/secrets/${place.path}/KEY`)).toEqual({
      key: 'KEY',
      value: 'two',
      version: 2,
      updatedAt: expect.stringMatching(instant),
    });
    expect(await client.expectStatus(200, 'GET', `/secrets/${other.path}/KEY`)).toMatchObject({
      value: 'elsewhere',
      version: 1,
    });
    const [current] = await site.stored.versions(place.id, 'KEY');
    if (current === undefined) throw new Error('the secret has no version');
    expect(current).toMatchObject({ version: 2, isCurrent: true });
    expect(current.sealed.includes('two')).toBe(false);
    expect(await site.stored.value(current)).toBe('two');
  });

  test(sentence('3.1', 'http'), async () => {
    const path = `/secrets/${place.path}`;
    const { client } = site.owner;
    await expectProblem(client.send('GET', `${path}/KEY`), 'not_found');
    await expectProblem(client.send('GET', `/versions/${place.path}/KEY`), 'not_found');
    const made = await client.send('PUT', `${path}/KEY`, { value: 'one' });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ key: 'KEY', version: 1 })]);
    await client.expectStatus(200, 'PATCH', path, { set: { OTHER: 'two' } });
    expect(await place.versionRows('KEY')).toEqual([[1, 'created', 'one']]);
    expect(await place.versionRows('OTHER')).toEqual([[1, 'created', 'two']]);
  });

  test(sentence('3.2', 'http'), async () => {
    const path = `/secrets/${place.path}`;
    const { client } = site.owner;
    await place.set({ KEY: 'one' });
    const put = await client.send('PUT', `${path}/KEY`, { value: 'two' });
    expect([put.status, put.body]).toEqual([200, expect.objectContaining({ key: 'KEY', version: 2 })]);
    const patched = await client.send('PATCH', path, { set: { KEY: 'three' } });
    expect([patched.status, patched.body]).toEqual([
      200,
      expect.objectContaining({ set: [{ key: 'KEY', version: 3 }] }),
    ]);
    expect(await place.versionRows('KEY')).toEqual([
      [3, 'updated', 'three'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
    expect(await place.values()).toEqual({ KEY: 'three' });
  });

  test(sentence('3.3', 'http'), async () => {
    for (const value of ['one', 'two', 'three']) await place.set({ KEY: value });
    const path = `/versions/${place.path}/KEY/rollback`;
    await expectProblem(site.owner.client.send('POST', path, { targetVersion: 4 }), 'not_found');
    const answer = await site.owner.client.send('POST', path, { targetVersion: 2 });
    expect([answer.status, answer.body]).toEqual([
      201,
      expect.objectContaining({ version: 4, changeType: 'rolled_back' }),
    ]);
    expect(await place.versionRows('KEY')).toEqual([
      [4, 'rolled_back', 'two'],
      [3, 'updated', 'three'],
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
    expect(await site.audited(answer)).toMatchObject([{ action: 'version.rollback', outcome: 'success' }]);
  });

  test(sentence('3.5', 'http'), async () => {
    await place.set({ KEY: 'one' });
    await place.set({ KEY: 'two' });
    const { client } = site.owner;
    expect((await client.send('DELETE', `/secrets/${place.path}/KEY`)).status).toBe(204);
    await expectProblem(client.send('GET', `/secrets/${place.path}/KEY`), 'not_found');
    expect(await place.values()).toEqual({});
    expect(await place.versionRows('KEY')).toEqual([
      [2, 'updated', 'two'],
      [1, 'created', 'one'],
    ]);
  });
});
