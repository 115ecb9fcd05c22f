import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { Canary } from '../../support/canary.ts';
import { type HttpClient, type TestApi, startTestApi } from '../../support/http.ts';
import { type TestToken, type World, createWorld } from '../../support/services.ts';

const canary = new Canary();
/** What of the canary survives every way of writing it. */
const word = canary.value.slice(0, 16);
const mebibyte = 1024 * 1024;

let api: TestApi;
let world: World;
let owner: HttpClient;
let readOnly: TestToken;
let secrets: string;
let versions: string;
let tokens: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  readOnly = await world.serviceToken({ permission: 'read' });
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
    // The body is as bad as can be: nobody reads it before they know whose it is.
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
      'the Authorization header must be: Bearer, a space, and a token',
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

  test('with a token nobody has, or the id of one with another secret part', async () => {
    const { principal } = world.owner.caller;
    const { token: forged } = generateToken('personal_token', principal.credentialId);
    for (const token of [unknown, forged]) expect((await refusal(api.client(token)))[0]).toBe('the token is unknown');
  });

  test('and accepted with the scheme in any case', async () => {
    const authorization = `bEARER  ${world.owner.token.reveal()}`;
    expect((await api.client().send('GET', '/me', undefined, { authorization })).status).toBe(200);
  });
});

describe('paths and methods', () => {
  test('an unknown path is not found, whatever is sent to it', async () => {
    for (const path of ['/', '/nothing', `${secrets}/A/B`, '/secrets/a', `${secrets}/`, '/ME', '/organizations//']) {
      await owner.problem('not_found', 'GET', path);
      await owner.problem('not_found', 'POST', path, '{');
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
    expect(answer.body).toMatchObject({ code: 'method_not_allowed', detail: `this path takes ${allowed}` });
  });

  test('HEAD answers like GET, without the body', async () => {
    const get = await owner.send('GET', secrets);
    const head = await owner.send('HEAD', secrets);
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
  });

  test('a path that does not decode is malformed', async () => {
    for (const path of [`${secrets}/%`, `${secrets}/%zz`, `${secrets}/%ff`, '/secrets/%c0%ae/b/c', '/%']) {
      const { status, detail } = await owner.problem('malformed_request', 'GET', path);
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
    const { errors } = await owner.problem('invalid_input', 'GET', path);
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
      const { errors } = await owner.problem('invalid_input', method, path);
      expect(errors).toEqual([{ field, message: expect.stringContaining(message) }]);
    }
  });

  test('versions and ids have to be what they are called', async () => {
    for (const version of ['0', 'x', '1.0', '-1', '2147483648']) {
      const { detail } = await owner.problem('invalid_input', 'GET', `${versions}/A/${version}`);
      expect(detail).toBe('version: must be an integer from 1 to 2147483647');
    }
    const { detail } = await owner.problem('invalid_input', 'DELETE', `${tokens}/${word}`);
    expect(detail).toBe('id: must be a UUID');
  });

  test('a query parameter that is not known, or stands twice, is refused by its name', async () => {
    const unbuilt = await owner.problem('invalid_input', 'GET', `${secrets}?values=false`);
    expect(unbuilt.detail).toBe('values: is not a query parameter of this request');
    const twice = await owner.problem('invalid_input', 'GET', `${versions}/A?limit=1&limit=2`);
    expect(twice.errors).toEqual([{ field: 'limit', message: 'is given twice' }]);
    const cursor = await owner.problem('invalid_input', 'GET', `${tokens}?cursor=${word}`);
    expect(cursor.errors).toEqual([{ field: 'cursor', message: expect.stringContaining('is not a cursor') }]);
    await owner.problem('invalid_input', 'GET', `${secrets}?__proto__=1`);
  });
});

describe('what a caller may not see is not found, before anything else is judged', () => {
  const bad: [string, unknown, Record<string, string>][] = [
    ['malformed JSON', '{', {}],
    ['another media type', '{}', { 'content-type': 'text/plain' }],
    ['an invalid field', { value: 5, other: 1 }, {}],
    ['a body that is too large', new Uint8Array(9 * mebibyte), {}],
  ];

  test.each(bad)('with %s', async (_case, body, headers) => {
    const path = secrets.replace('prod', 'staging');
    const missing = await owner.problem('not_found', 'PUT', `${path}/..bad?x=1`, body, headers);
    const stranger = api.client(world.stranger.token);
    const hidden = await stranger.problem('not_found', 'PUT', `${secrets}/..bad?x=1`, body, headers);
    // One text for what is not there and what is not theirs to see.
    expect(hidden.detail).toBe(missing.detail.replace('staging', 'prod'));
  });

  test.each(bad)('and what they see but may not do is forbidden, with %s', async (_case, body, headers) => {
    for (const client of [api.client(world.viewer.token), api.client(readOnly.token)]) {
      await client.problem('forbidden', 'PUT', `${secrets}/..bad?x=1`, body, headers);
      await client.problem('forbidden', 'PATCH', `${secrets}?x=1`, body, headers);
      await client.problem('forbidden', 'POST', tokens, body, headers);
    }
  });
});

describe('a body', () => {
  test.each([
    ['none', undefined, 'application/json', 400, 'this request needs a body: a JSON object'],
    ['an empty one', '', 'application/json', 400, 'this request needs a body: a JSON object'],
    ['text', 'value', 'text/plain', 415, 'send the body as JSON in UTF-8, with Content-Type: application/json'],
    ['a form', 'value=1', 'application/x-www-form-urlencoded', 415, 'send the body as JSON in UTF-8'],
    ['another charset', '{}', 'application/json; charset=latin1', 415, 'send the body as JSON in UTF-8'],
    ['a JSON patch', '[]', 'application/json-patch+json', 415, 'send the body as JSON in UTF-8'],
    ['half an object', `{"value":"${word}`, 'application/json', 400, 'the body is not valid JSON'],
    ['a word', word, 'application/json', 400, 'the body is not valid JSON'],
    ['a byte order mark', '\ufeff{"value":""}', 'application/json', 400, 'the body is not valid JSON'],
    [
      'bytes that are no UTF-8',
      Buffer.from([0x7b, 0xff, 0x7d]),
      'application/json',
      400,
      'the body is not valid UTF-8',
    ],
    ['an array', `["${word}"]`, 'application/json', 422, 'body: must be a JSON object'],
    ['a string', `"${word}"`, 'application/json', 422, 'body: must be a JSON object'],
    [
      'a field too many',
      `{"value":"","${word}":1}`,
      'application/json',
      422,
      `${word}: is not a field of this request`,
    ],
    ['__proto__', '{"value":"","__proto__":{"comment":"x"}}', 'application/json', 422, '__proto__: is not a field'],
    ['no value', '{"comment":"x"}', 'application/json', 422, 'value: is required'],
    ['a number as value', '{"value":1}', 'application/json', 422, 'value: must be a string'],
    ['a lone surrogate', '{"value":"\\udc00"}', 'application/json', 422, 'value: must be valid Unicode'],
  ])('that is refused: %s', async (_case, body, mediaType, status, detail) => {
    const answer = await owner.send('PUT', `${secrets}/BODY`, body, { 'content-type': mediaType });
    expect(answer.status).toBe(status);
    expect((answer.body as { detail: string }).detail).toContain(detail);
    if (!detail.includes(word)) expect(answer.text).not.toContain(word);
    await owner.problem('not_found', 'GET', `${secrets}/BODY`);
  });

  test('may name its charset', async () => {
    const headers = { 'content-type': 'Application/JSON; Charset="UTF-8"' };
    expect((await owner.send('PUT', `${secrets}/CHARSET`, '{"value":""}', headers)).status).toBe(201);
  });

  test('that is compressed is refused', async () => {
    const { status } = await owner.problem('unsupported_media_type', 'PUT', `${secrets}/BODY`, '{}', {
      'content-encoding': 'gzip',
    });
    expect(status).toBe(415);
  });

  test('is refused where none is taken', async () => {
    for (const path of [`${secrets}/BODY`, `${tokens}/${randomUUID()}`]) {
      const { detail } = await owner.problem('malformed_request', 'DELETE', path, { value: 'x' });
      expect(detail).toBe('this request takes no body');
    }
  });

  test('of exactly 8 MiB is read, and of one byte more is not', async () => {
    const fit = '{"value":"x"}';
    const exact = fit + ' '.repeat(8 * mebibyte - fit.length);
    await owner.expect(201, 'PUT', `${secrets}/LARGE`, exact);
    const { status, detail } = await owner.problem('payload_too_large', 'PUT', `${secrets}/LARGE`, `${exact} `);
    expect([status, detail]).toEqual([413, 'the body must be at most 8 MiB; send the change in parts']);
    // The connection stays usable.
    await owner.expect(200, 'GET', '/me');
  });

  test('of unknown length is read no further than 8 MiB', async () => {
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += mebibyte;
        if (sent > 12 * mebibyte) controller.close();
        else controller.enqueue(new Uint8Array(mebibyte).fill(0x20));
      },
    });
    const init = { body: stream, duplex: 'half', headers: { 'content-type': 'application/json' } };
    const answer = await owner.request('PUT', `/api/v1${secrets}/STREAM`, init as RequestInit);
    expect(answer.body).toMatchObject({ status: 413, code: 'payload_too_large' });
  });

  test('names its faulty fields by their paths, and no value', async () => {
    const answer = await owner.send(
      'PATCH',
      secrets,
      `{"set":{"A":"1","B":5,"__proto__":"${word}","C":"\\ud800"},"expectedRevision":"${word}"}`,
    );
    expect(answer.status).toBe(422);
    const { errors } = answer.body as { errors: { field: string }[] };
    expect(errors.map(({ field }) => field)).toEqual(['set.B', 'set.__proto__', 'set.C', 'expectedRevision']);
    expect(answer.text).not.toContain(word);
    await owner.problem('not_found', 'GET', `${secrets}/A`);
  });

  test('is refused as a whole where one entry cannot be done', async () => {
    const { detail } = await owner.problem('not_found', 'PATCH', secrets, {
      set: { WHOLE: '1' },
      delete: ['NOT_THERE'],
    });
    expect(detail).toContain('NOT_THERE');
    await owner.problem('not_found', 'GET', `${secrets}/WHOLE`);
  });
});

describe('a service token is refused', () => {
  const id = '00000000-0000-4000-8000-000000000000';

  test.each([
    ['of an unknown scope', { scope: 'everything' }, 'scope'],
    ['of project scope without a project', { scope: 'project' }, 'projectId'],
    ['of environment scope without an environment', { scope: 'environment' }, 'environmentId'],
    ['of organization scope with a project', { scope: 'organization', projectId: id }, 'projectId'],
    ['for a project that is not there', { scope: 'project', projectId: id }, 'projectId'],
    ['for an environment that is not there', { scope: 'environment', environmentId: id }, 'environmentId'],
    ['of an unknown permission', { scope: 'organization', permission: 'admin' }, 'permission'],
    ['without a name', { scope: 'organization', name: '' }, 'name'],
    ['that lasts 0 days', { scope: 'organization', expiresInDays: 0 }, 'expiresInDays'],
    ['that has ended', { scope: 'organization', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    ['with two ends', { scope: 'organization', expiresInDays: 1, expiresAt: '2099-01-01T00:00:00Z' }, 'expiresAt'],
  ])('%s', async (_case, input, field) => {
    const { errors, detail } = await owner.problem('invalid_input', 'POST', tokens, {
      name: 'x',
      permission: 'read',
      ...input,
    });
    expect(errors?.map((fault) => fault.field)).toEqual([field]);
    expect(detail).toContain(field);
  });
});

describe('a failed request of a service token', () => {
  interface Entry {
    readonly action: string;
    readonly outcome: string;
    readonly label: string;
    readonly organization_id: string;
    readonly target: Record<string, unknown>;
  }

  async function entries(requestId: string | null): Promise<Entry[]> {
    const { rows } = await api.services.database.pool.query<Entry>('SELECT * FROM audit_entry WHERE request_id = $1', [
      requestId,
    ]);
    return rows;
  }

  test.each<[string, string, string, unknown, number, Partial<Entry>]>([
    ['that is forbidden', 'PUT', 'A', { value: 'x' }, 403, { action: 'secret.write', outcome: 'denied' }],
    ['for a malformed key', 'GET', '..bad', undefined, 422, { action: 'secret.read', outcome: 'failed' }],
    ['for a key that is not there', 'GET', 'NOT_THERE', undefined, 404, { action: 'secret.read', outcome: 'failed' }],
    [
      'with a query that is not known',
      'GET',
      'A?values=false',
      undefined,
      422,
      { action: 'secret.read', outcome: 'failed' },
    ],
  ])('%s leaves one audit entry', async (_case, method, key, body, status, entry) => {
    const answer = await api.client(readOnly.token).send(method, `${secrets}/${key}`, body);
    expect(answer.status).toBe(status);
    const found = await entries(answer.headers.get('x-request-id'));
    const chain = { organization_id: world.organization.id, label: '[Service Token]' };
    expect(found).toMatchObject([{ ...entry, ...chain }]);
    expect(found[0]?.target).toMatchObject({
      organization: world.slugs.organization,
      project: 'web',
      environment: 'prod',
    });
  });

  test('that is hidden leaves one audit entry, with the code and no more than names', async () => {
    const client = api.client(readOnly.token);
    const elsewhere = await client.send('GET', `/secrets/${word.toLowerCase()}x/web/prod`);
    expect(elsewhere.status).toBe(404);
    expect(await entries(elsewhere.headers.get('x-request-id'))).toHaveLength(1);
    const malformed = await client.send('GET', `/secrets/${word}-/web/prod`);
    expect(malformed.status).toBe(422);
    const [entry, ...others] = await entries(malformed.headers.get('x-request-id'));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ outcome: 'failed', target: { error: 'invalid_input' } });
    expect(JSON.stringify(entry)).not.toContain(word);
  });

  test('that has a bad body leaves one audit entry', async () => {
    const writer = api.client((await world.serviceToken()).token);
    for (const [body, error] of [
      ['{', 'malformed_request'],
      ['{}', 'invalid_input'],
    ] as const) {
      const answer = await writer.send('PUT', `${secrets}/A`, body);
      expect(await entries(answer.headers.get('x-request-id'))).toMatchObject([
        { action: 'secret.write', outcome: 'failed', target: { error, key: 'A' } },
      ]);
    }
  });
});

describe('the log', () => {
  const fields = [
    'level',
    'time',
    'method',
    'route',
    'status',
    'durationMs',
    'requestId',
    'principalId',
    'code',
    'msg',
  ];

  beforeEach(() => void (api.logs as unknown[]).splice(0));

  test('has one line for each request, with the template of its route and nothing that was sent', async () => {
    const ok = await owner.send(
      'PUT',
      `${secrets}/${word}?`,
      { value: canary.value, comment: word },
      { 'x-probe': word },
    );
    expect(ok.status).toBe(201);
    await owner.send('GET', `${secrets}/${word}?${word}=${word}`);
    await owner.send('GET', `/${word}`);
    await withToken(word).send('GET', '/me');
    const common = { level: 'info', msg: 'request' };
    const route = '/api/v1/secrets/{org}/{project}/{env}/{key}';
    expect(api.logs).toMatchObject([
      {
        ...common,
        method: 'PUT',
        route,
        status: 201,
        requestId: ok.headers.get('x-request-id'),
        principalId: world.owner.id,
      },
      { ...common, method: 'GET', route, status: 422, code: 'invalid_input', principalId: world.owner.id },
      { ...common, method: 'GET', route: 'unmatched', status: 404, code: 'not_found' },
      { ...common, method: 'GET', route: '/api/v1/me', status: 401, code: 'unauthenticated' },
    ]);
    expect(api.logs[3]).not.toHaveProperty('principalId');
    for (const line of api.logs) expect(fields).toEqual(expect.arrayContaining(Object.keys(line)));
    expect(canary.traces(Buffer.from(JSON.stringify(api.logs)))).toEqual([]);
    expect(JSON.stringify(api.logs)).not.toContain(word);
  });

  test('and the metrics tell routes by their templates', async () => {
    await owner.send('GET', `${secrets}/${word}`);
    const text = await api.metrics.render();
    const labels = 'method="GET",route="/api/v1/secrets/{org}/{project}/{env}/{key}",status="200"';
    expect(text).toContain(`keyframe_http_request_duration_seconds_count{${labels}}`);
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).not.toContain(word);
  });
});
