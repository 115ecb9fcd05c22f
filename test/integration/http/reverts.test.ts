import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { revertView } from '../../../src/wire/changes.ts';
import { expectProblem, type HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let developer: HttpClient;
let changes: string;
let secrets: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  developer = api.client(world.developer.token);
});
afterAll(() => api.close());

/** Each test has an environment. */
beforeEach(async () => {
  const { organization, project } = world.slugs;
  const slug = `e-${randomUUID()}`;
  const admin = api.client(world.admin.token);
  await admin.expectStatus(201, 'POST', `/environments/${organization}/${project}`, { slug });
  changes = `/changes/${organization}/${project}/${slug}`;
  secrets = `/secrets/${organization}/${project}/${slug}`;
});

async function write(set: Record<string, string>, deleted: string[] = []): Promise<string> {
  const answer = await developer.expectStatus<{ revisionId: string }>(200, 'PATCH', secrets, { set, delete: deleted });
  return answer.revisionId;
}

const revert = (revision: number | string, body?: unknown, headers = {}): ReturnType<HttpClient['send']> =>
  developer.send('POST', `${changes}/${revision}/revert`, body, headers);

describe('a revert over HTTP', () => {
  test('can be planned, and is done as planned or not at all', async () => {
    await write({ A: '1', GONE: '1' });
    const reverted = { revision: 2, revisionId: await write({ A: '2', NEW: '2' }, ['GONE']) };
    const { planHash, ...plan } = revertView.parse((await revert(2, { dryRun: true })).body);
    const lists = {
      restored: ['A'],
      recreated: ['GONE'],
      deleted: ['NEW'],
      unchanged: [],
      destroyed: [],
      conflicts: [],
    };
    expect(plan).toEqual({ ...lists, reverted, ...reverted });
    expect(planHash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    await expectProblem(revert(1, { planHash, overwrite: true }), 'plan_outdated');
    await expectProblem(revert(2, { expectedRevision: randomUUID() }), 'version_mismatch');
    const answer = await revert(reverted.revisionId.toUpperCase(), { planHash, expectedRevision: plan.revisionId });
    expect(answer.status).toBe(200);
    expect(revertView.parse(answer.body)).toEqual({ ...lists, reverted, revision: 3, revisionId: expect.any(String) });
    await expectProblem(revert(2, { planHash }), 'plan_outdated');
  });

  test('takes no body, and is done once for each Idempotency-Key', async () => {
    await write({ A: '1' });
    const headers = { 'idempotency-key': randomUUID() };
    const first = await revert(1, undefined, headers);
    expect(revertView.parse(first.body)).toMatchObject({ deleted: ['A'], revision: 2 });
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    const again = await revert(1, undefined, headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await expectProblem(revert(1, { overwrite: true }, headers), 'idempotency_key_reused');
  });

  test('names the keys that were changed since, and shows no value', async () => {
    await write({ A: 'value-1', B: 'value-1' });
    await write({ A: 'value-2', B: 'value-2' });
    await write({ A: 'value-3' });
    const answer = await revert(2, {});
    expect(answer.status).toBe(409);
    const problem = await expectProblem(Promise.resolve(answer), 'revert_conflict');
    expect(problem.detail).toContain('revision 2 cannot be reverted alone');
    expect(problem.errors).toEqual([{ field: 'A', message: 'was changed after the revision' }]);
    const done = await revert(2, { overwrite: true });
    expect(revertView.parse(done.body)).toMatchObject({
      restored: ['A', 'B'],
      conflicts: [{ key: 'A', reason: 'changed' }],
    });
    for (const { text } of [answer, done]) expect(text).not.toContain('value-');
  });
});
