import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

// Must not be repeated by any answer.
const word = new Canary().value.slice(0, 16);
let api: TestApi;
let world: World;
let owner: HttpClient;
let secrets: string;
let versions: string;
let tokens: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  const { organization } = world.slugs;
  secrets = `/secrets/${organization}/web/prod`;
  versions = `/versions/${organization}/web/prod`;
  tokens = `/service-tokens/${organization}`;
});

afterAll(() => api.close());

function withToken(text: string): HttpClient {
  return api.client({ reveal: () => text });
}

describe('a request is refused with 401', () => {
  const { token: unknown } = generateToken('personal_token', randomUUID());

  async function refusal(client: HttpClient, headers: Record<string, string> = {}): Promise<[string, string | null]> {
    // The body is as bad as can be: it is not read before the caller is known.
    const answer = await client.send('PUT', `${secrets}/..${word}`, '{', { 'content-type': 'text/plain', ...headers });
    expect(answer.status).toBe(401);
    expect(answer.text).not.toContain(word);
    return [(answer.body as { detail: string }).detail, answer.headers.get('www-authenticate')];
  }

  test('without a token', async () => {
    expect(await refusal(api.client())).toEqual([
      'a token is needed; send it as "Authorization: Bearer <token>"',
      'Bearer realm="keyframe"',
    ]);
  });

  test.each([
    ['another scheme', 'Basic a2Y6a2Y='],
    ['the scheme alone', 'Bearer'],
    ['a token without the scheme', 'kf_pat_x'],
    ['two tokens', 'Bearer kf_pat_x kf_pat_y'],
  ])('with %s', async (_case, authorization) => {
    expect(await refusal(api.client(), { authorization })).toEqual([
      'the header Authorization must be: Bearer, a space, and a token',
      'Bearer realm="keyframe", error="invalid_token"',
    ]);
  });

  test('with garbage, or a token of which a letter is wrong', async () => {
    const whole = world.owner.token.reveal();
    const wrong = whole.slice(0, -1) + (whole.endsWith('A') ? 'B' : 'A');
    for (const text of [word, 'kf_pat_', wrong, `${whole}x`, whole.toUpperCase()]) {
      const [detail] = await refusal(withToken(text));
      expect(detail).toMatch(/^the token is malformed/);
    }
  });

  test('with an unknown token, or the id of one with another secret part', async () => {
    const { principal } = world.owner.caller;
    const { token: forged } = generateToken('personal_token', principal.credentialId);
    for (const token of [unknown, forged]) expect((await refusal(api.client(token)))[0]).toBe('the token is unknown');
  });

  test(`and accepted with the scheme in any case ${sentence('5.1')}`, async () => {
    const authorization = `bEARER ${world.owner.token.reveal()}`;
    expect((await api.client().send('GET', '/me', undefined, { authorization })).status).toBe(200);
  });
});

describe('paths and methods', () => {
  test('an unknown path is not found, whatever is sent to it', async () => {
    for (const path of ['/', '/nothing', `${secrets}/A/B`, '/secrets/a', `${secrets}/`, '/ME', '/organizations//']) {
      await expectProblem(owner.send('GET', path), 'not_found');
      await expectProblem(owner.send('POST', path, '{'), 'not_found');
    }
    const outside = await owner.request('GET', `/${word}`);
    expect(outside.status).toBe(404);
    expect(outside.text).not.toContain(word);
  });

  test.each([
    ['DELETE', '/me', 'GET, HEAD'],
    ['PUT', '/organizations', 'GET, HEAD, POST'],
    ['POST', '/secrets/a/b/c', 'GET, HEAD, PATCH'],
    ['POST', '/secrets/a/b/c/d', 'GET, HEAD, PUT, DELETE'],
    ['GET', '/versions/a/b/c/d/rollback', 'POST'],
    ['DELETE', '/versions/a/b/c/d/1', 'GET, HEAD'],
    ['PATCH', '/service-tokens/a/b', 'GET, HEAD, DELETE'],
    ['OPTIONS', '/me', 'GET, HEAD'],
  ])('%s %s is refused with what is allowed there', async (method, path, allowed) => {
    const answer = await owner.send(method, path);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
    expect(answer.body).toMatchObject({ code: 'method_not_allowed', detail: `this path allows ${allowed}` });
  });

  test('HEAD answers like GET, without the body', async () => {
    const get = await owner.send('GET', secrets);
    const head = await owner.send('HEAD', secrets);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  test('a path that does not decode is malformed', async () => {
    for (const path of [`${secrets}/%`, `${secrets}/%zz`, `${secrets}/%ff`, '/secrets/%c0%ae/b/c', '/%']) {
      const { status, detail } = await expectProblem(owner.send('GET', path), 'malformed_request');
      expect([status, detail]).toEqual([400, 'the path is not valid percent-encoded UTF-8']);
    }
  });

  test.each([
    ['organization', '/projects/Acme'],
    ['organization', '/organizations/%00'],
    ['project', '/projects/acme/-web'],
    ['environment', `/secrets/acme/web/${'x'.repeat(64)}`],
    ['environment', '/secrets/acme/web/a%2fb'],
  ])('a malformed slug of the %s is refused by its field', async (field, path) => {
    const { errors } = await expectProblem(owner.send('GET', path), 'invalid_input');
    expect(errors?.map((fault) => fault.field)).toEqual([field]);
  });

  test('a query parameter that is not known, or stands twice, is refused by its name', async () => {
    const unbuilt = await expectProblem(owner.send('GET', `${secrets}?vlaues=false`), 'invalid_input');
    expect(unbuilt.detail).toBe('vlaues: is not a query parameter of this request');
    const twice = await expectProblem(owner.send('GET', `${versions}/A?limit=1&limit=2`), 'invalid_input');
    expect(twice.errors).toEqual([{ field: 'limit', message: 'must be given once' }]);
    const cursor = await expectProblem(owner.send('GET', `${tokens}?cursor=${word}`), 'invalid_input');
    expect(cursor.errors).toEqual([{ field: 'cursor', message: expect.stringContaining('is not a cursor') }]);
    await expectProblem(owner.send('GET', `${secrets}?__proto__=1`), 'invalid_input');
  });

  test.each(['-271821-04-20T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', '2026-02-30T00:00:00.000Z', '2026', ''])(
    'a cursor at the time %j is none',
    async (time) => {
      const cursor = Buffer.from(JSON.stringify(['service-tokens', time, randomUUID()])).toString('base64url');
      const { errors } = await expectProblem(owner.send('GET', `${tokens}?cursor=${cursor}`), 'invalid_input');
      expect(errors).toEqual([{ field: 'cursor', message: expect.stringContaining('is not a cursor') }]);
    },
  );
});

describe('a condition on a change', () => {
  const stale = '"00000000-0000-0000-0000-000000000000"';

  beforeAll(() => owner.expectStatus(201, 'PUT', `${secrets}/A`, { value: 'kept' }));

  // A caller who sends one counts on it: done without it, the change would overwrite what the caller has never seen.
  test.each([
    { method: 'PUT', path: '/A', body: { value: 'lost' }, condition: { 'if-match': stale } },
    { method: 'PUT', path: '/A', body: { value: 'lost' }, condition: { 'if-none-match': '*' } },
    { method: 'PATCH', path: '', body: { set: { A: 'lost' } }, condition: { 'if-match': stale } },
    {
      method: 'PATCH',
      path: '',
      body: { set: { A: 'lost' } },
      condition: { 'if-unmodified-since': 'Sat, 21 Nov 2026 10:00:00 GMT' },
    },
    { method: 'DELETE', path: '/A', body: undefined, condition: { 'if-match': stale } },
  ])('$method with $condition is refused and changes nothing', async ({ method, path, body, condition }) => {
    const { detail } = await expectProblem(owner.send(method, secrets + path, body, condition), 'malformed_request');
    expect(detail).toMatch(/^changes do not support If-Match, If-None-Match or If-Unmodified-Since/);
    expect(await owner.expectStatus(200, 'GET', `${secrets}/A`)).toMatchObject({ value: 'kept', version: 1 });
  });

  test('a caller who may not make a change is refused for that, whatever the condition', async () => {
    const viewer = api.client(world.viewer.token);
    await expectProblem(viewer.send('DELETE', `${secrets}/A`, undefined, { 'if-match': stale }), 'forbidden');
  });
});
