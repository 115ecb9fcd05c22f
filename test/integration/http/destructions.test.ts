import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { restoreView, snapshotDiffView } from '../../../src/wire/snapshots.ts';
import { destroyedVersionView, versionListView } from '../../../src/wire/versions.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let admin: HttpClient;
let place: string;
let secrets: string;
let versions: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  admin = api.client(world.admin.token);
});

afterAll(() => api.close());

beforeEach(async () => {
  const slug = `e-${randomBytes(4).toString('hex')}`;
  const { organization, project } = world.slugs;
  await admin.expectStatus(201, 'POST', `/environments/${organization}/${project}`, { slug });
  place = `${organization}/${project}/${slug}`;
  secrets = `/secrets/${place}`;
  versions = `/versions/${place}`;
});

async function write(...values: string[]): Promise<void> {
  for (const value of values) expect((await admin.send('PUT', `${secrets}/KEY`, { value })).status).toBeLessThan(300);
}

const destroy = (version: number, body?: object) => admin.send('POST', `${versions}/KEY/${version}/destroy`, body);

describe('a destruction over HTTP', () => {
  test('answers the record without a value, again and again, with a body or without', async () => {
    await write('leaked', 'safe');
    const first = await destroy(1);
    expect([first.status, first.text.includes('leaked')]).toEqual([200, false]);
    const record = destroyedVersionView.parse(first.body);
    const { id, email } = world.admin;
    expect(record).toMatchObject({
      version: 1,
      changeType: 'created',
      destroyedAt: expect.any(String),
      destroyedBy: id,
      destroyedByType: 'user',
      destroyedByName: email,
      destroyedVersions: [1],
    });
    for (const body of [undefined, {}, { sameValue: true }]) {
      const again = await destroy(1, body);
      expect([again.status, again.body]).toEqual([200, first.body]);
    }
    const { destroyedVersions: _versions, ...listed } = record;
    const list = versionListView.parse(await admin.expectStatus(200, 'GET', `${versions}/KEY`));
    expect(list.versions).toMatchObject([{ version: 2, destroyedAt: null, destroyedByName: null }, listed]);
  });

  test('makes each read of the value a 410, whatever the caller knows already', async () => {
    await write('leaked', 'safe');
    const before = await admin.send('GET', `${secrets}?revision=1`);
    const one = await admin.send('GET', `${secrets}/KEY?revision=1`);
    expect([before.status, one.status]).toEqual([200, 200]);
    await destroy(1);
    const known = (tag: string | null): Record<string, string> => ({ 'if-none-match': tag ?? '' });
    const tags = [before, one].map(({ headers }) => headers.get('etag'));
    const reads = [
      () => admin.send('GET', `${versions}/KEY/1`),
      () => admin.send('GET', `${secrets}?revision=1`),
      () => admin.send('GET', `${secrets}/KEY?revision=1`),
      () => admin.send('GET', `${secrets}?revision=1`, undefined, known(tags[0] ?? null)),
      () => admin.send('GET', `${secrets}/KEY?revision=1`, undefined, known(tags[1] ?? null)),
      () => admin.send('POST', `${versions}/KEY/rollback`, { targetVersion: 1 }),
    ];
    for (const read of reads) expect((await expectProblem(read(), 'version_destroyed')).status).toBe(410);
    expect(await admin.expectStatus(200, 'GET', `${secrets}/KEY`)).toMatchObject({ value: 'safe', version: 2 });
    await admin.expectStatus(200, 'GET', `${secrets}?revision=1&values=false`);
    const current = (await admin.send('GET', `${secrets}?revision=2`)).headers.get('etag');
    expect((await admin.send('GET', `${secrets}?revision=2`, undefined, known(current))).status).toBe(304);
  });

  test('is refused for the current version, and where it is not said what becomes of the same value', async () => {
    await write('leaked', 'leaked', 'safe');
    expect((await expectProblem(destroy(3), 'version_current')).status).toBe(409);
    expect((await expectProblem(destroy(1), 'value_in_other_versions')).status).toBe(409);
    const { body } = await destroy(1, { sameValue: true });
    expect(body).toMatchObject({ version: 1, destroyedVersions: [1, 2] });
    await expectProblem(destroy(9), 'not_found');
    await expectProblem(destroy(0), 'invalid_input');
    await expectProblem(destroy(1, { sameValue: 'yes' }), 'invalid_input');
    await expectProblem(destroy(1, { reason: 'x' }), 'invalid_input');
    const keyed = admin.send('POST', `${versions}/KEY/1/destroy`, {}, { 'idempotency-key': 'one' });
    await expectProblem(keyed, 'malformed_request');
  });

  test('is named in the plan and the answer of a restore, and in a diff', async () => {
    await write('leaked');
    const { id } = await admin.expectStatus<{ id: string }>(201, 'POST', `/snapshots/${place}`);
    await write('safe');
    await destroy(1);
    const restore = (body: object) => admin.expectStatus(200, 'POST', `/snapshots/${place}/restore`, body);
    for (const body of [{ snapshotId: id, dryRun: true }, { snapshotId: id }]) {
      expect(restoreView.parse(await restore(body))).toMatchObject({ restored: [], destroyed: ['KEY'] });
    }
    const diff = snapshotDiffView.parse(await admin.expectStatus(200, 'GET', `/snapshots/${place}/${id}/diff`));
    expect(diff).toMatchObject({
      changed: [{ key: 'KEY', from: 1, to: 2, valueChanged: true }],
      destroyed: [{ key: 'KEY', version: 1 }],
    });
  });
});
