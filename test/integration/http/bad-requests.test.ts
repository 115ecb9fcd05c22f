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

describe('a target is judged before the rest of the request', () => {
  test('what is not visible is 404, and what is not allowed 403, whatever the body', async () => {
    const stranger = api.client(world.stranger.token);
    const viewer = api.client(world.viewer.token);
    for (const body of ['{', { unknown: word }]) {
      await expectProblem(stranger.send('PATCH', secrets, body), 'not_found');
      await expectProblem(viewer.send('PATCH', secrets, body), 'forbidden');
      await expectProblem(stranger.send('POST', '/organizations', body), 'forbidden');
    }
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

  test.each([
    ['key', 'a%20b', 'must be 1 to 253 letters'],
    ['key', 'K'.repeat(254), 'must be 1 to 253 letters'],
    ['key', '__proto__', 'must not be "." or "__proto__"'],
    ['key', '..%2e', 'must not be "." or "__proto__"'],
    ['key', '%F0%9F%98%80', 'must be 1 to 253 letters'],
  ])('a malformed %s is refused: %s', async (field, text, message) => {
    for (const [method, path] of [
      ['GET', `${secrets}/${text}`],
      ['DELETE', `${secrets}/${text}`],
      ['GET', `${versions}/${text}`],
    ] as const) {
      const { errors } = await expectProblem(owner.send(method, path), 'invalid_input');
      expect(errors).toEqual([{ field, message: expect.stringContaining(message) }]);
    }
  });

  test('versions and ids have to be what they are called', async () => {
    for (const version of ['0', 'x', '1.0', '-1', '2147483648']) {
      const { detail } = await expectProblem(owner.send('GET', `${versions}/A/${version}`), 'invalid_input');
      expect(detail).toBe('version: must be an integer from 1 to 2147483647');
    }
    const { detail } = await expectProblem(owner.send('DELETE', `${tokens}/${word}`), 'invalid_input');
    expect(detail).toBe('id: must be a UUID');
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

  const lists = {
    '/api/v1/organizations': () => '/organizations',
    '/api/v1/projects/{org}': () => `/projects/${world.slugs.organization}`,
    '/api/v1/environments/{org}/{project}': () => `/environments/${world.slugs.organization}/web`,
    '/api/v1/secrets/{org}/{project}/{env}': () => secrets,
  };

  test('the lists that take deleted are known', async () => {
    const answer = await owner.request('GET', '/openapi.json');
    const { paths } = JSON.parse(answer.text) as { paths: Record<string, { get?: { parameters?: object[] } }> };
    const taking = Object.keys(paths).filter((path) =>
      paths[path]?.get?.parameters?.some((parameter) => 'name' in parameter && parameter.name === 'deleted'),
    );
    expect(taking.sort()).toEqual(Object.keys(lists).sort());
  });

  test.each(Object.entries(lists))('in %s, deleted is true or false and stands once', async (_list, pathOf) => {
    const path = pathOf();
    for (const value of [word, 'maybe', 'TRUE', '1', '0', 'yes', 'true,false', '%20true', '']) {
      const found = await expectProblem(owner.send('GET', `${path}?deleted=${value}`), 'invalid_input');
      const message = 'must be one of true, false';
      const errors = [{ field: 'deleted', message }];
      expect(found).toMatchObject({ status: 422, detail: `deleted: ${message}`, errors });
      expect(JSON.stringify(found)).not.toContain(word);
    }
    for (const query of ['deleted=true&deleted=true', 'deleted=false&deleted=true', 'deleted=maybe&deleted=maybe']) {
      const found = await expectProblem(owner.send('GET', `${path}?${query}`), 'invalid_input');
      const errors = [{ field: 'deleted', message: 'must be given once' }];
      expect(found).toMatchObject({ status: 422, detail: 'deleted: must be given once', errors });
    }
    for (const name of ['Deleted', 'deleted[]', 'deleted[0]']) {
      const found = await expectProblem(owner.send('GET', `${path}?${name}=true`), 'invalid_input');
      expect(found.detail).toContain('is not a query parameter of this request');
    }
    for (const value of ['true', 'false']) await owner.expectStatus(200, 'GET', `${path}?deleted=${value}`);
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
