import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Canary } from '../../support/fixtures/canary.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type TestToken, type World, createWorld } from '../../support/api/services.ts';

// Must not be repeated by any answer.
const word = new Canary().value.slice(0, 16);
const mebibyte = 1024 * 1024;
let api: TestApi;
let world: World;
let owner: HttpClient;
let readOnly: TestToken;
let secrets: string;
let tokens: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  readOnly = await world.serviceToken({ permission: 'read' });
  secrets = `/secrets/${world.slugs.organization}/web/prod`;
  tokens = `/service-tokens/${world.slugs.organization}`;
});

afterAll(() => api.close());

describe('what a caller may not see is not found, before anything else is judged', () => {
  const bad: [string, unknown, Record<string, string>][] = [
    ['malformed JSON', '{', {}],
    ['a body that is too large', new Uint8Array(9 * mebibyte), {}],
  ];

  test.each(bad)('with %s', async (_case, body, headers) => {
    const path = secrets.replace('prod', 'staging');
    const missing = await expectProblem(owner.send('PUT', `${path}/..bad?x=1`, body, headers), 'not_found');
    const stranger = api.client(world.stranger.token);
    const hidden = await expectProblem(stranger.send('PUT', `${secrets}/..bad?x=1`, body, headers), 'not_found');
    // One text for what is not there and what is not theirs to see.
    expect(hidden.detail).toBe(missing.detail.replace('staging', 'prod'));
  });

  test.each(bad)('and what they see but may not do is forbidden, with %s', async (_case, body, headers) => {
    for (const client of [api.client(world.viewer.token), api.client(readOnly.token)]) {
      await expectProblem(client.send('PUT', `${secrets}/..bad?x=1`, body, headers), 'forbidden');
      await expectProblem(client.send('PATCH', `${secrets}?x=1`, body, headers), 'forbidden');
      await expectProblem(client.send('POST', tokens, body, headers), 'forbidden');
    }
  });
});

describe('a body', () => {
  const json = 'application/json';
  const needsBody = 'this request requires a body: a JSON object';
  const needsJson = 'send the body as JSON in UTF-8, with Content-Type: application/json';

  test.each<[string, [unknown, string], [number, string]]>([
    ['none', [undefined, json], [400, needsBody]],
    ['an empty one', ['', json], [400, needsBody]],
    ['text', ['value', 'text/plain'], [415, needsJson]],
    ['a form', ['value=1', 'application/x-www-form-urlencoded'], [415, needsJson]],
    ['another charset', ['{}', 'application/json; charset=latin1'], [415, needsJson]],
    ['a JSON patch', ['[]', 'application/json-patch+json'], [415, needsJson]],
    ['half an object', [`{"value":"${word}`, json], [400, 'the body is not valid JSON']],
    ['a word', [word, json], [400, 'the body is not valid JSON']],
    ['a byte order mark', ['\ufeff{"value":""}', json], [400, 'the body is not valid JSON']],
    ['bytes that are no UTF-8', [Buffer.from([0x7b, 0xff, 0x7d]), json], [400, 'the body is not valid UTF-8']],
    ['a name no field has', [`{"value":"","${word} ":1}`, json], [422, '(unprintable name): is not a field']],
    ['__proto__', [`{"value":"","__proto__":{"x":"${word}"}}`, json], [422, '__proto__: is not a field']],
    ['a field twice', [`{"value":"${word}","value":"x"}`, json], [422, 'value: must be given once']],
    [
      'another name twice',
      [`{"value":"","${word} ":1,"${word} ":2}`, json],
      [422, '(unprintable name): must be given once'],
    ],
    ['deep nesting', ['['.repeat(mebibyte), json], [400, 'the body must be nested at most 32 levels deep']],
    ['half an object with a name twice', ['{"value":"","value":""', json], [400, 'the body is not valid JSON']],
  ])('that is refused: %s', async (_case, [body, mediaType], [status, detail]) => {
    const answer = await owner.send('PUT', `${secrets}/BODY`, body, { 'content-type': mediaType });
    expect(answer.status).toBe(status);
    expect((answer.body as { detail: string }).detail).toContain(detail);
    expect(answer.text).not.toContain(word);
    await expectProblem(owner.send('GET', `${secrets}/BODY`), 'not_found');
  });

  test('may name its charset', async () => {
    const headers = { 'content-type': 'Application/JSON; Charset="UTF-8"' };
    expect((await owner.send('PUT', `${secrets}/CHARSET`, '{"value":""}', headers)).status).toBe(201);
  });

  test('that is compressed is refused', async () => {
    const { status } = await expectProblem(
      owner.send('PUT', `${secrets}/BODY`, '{}', {
        'content-encoding': 'gzip',
      }),
      'unsupported_media_type',
    );
    expect(status).toBe(415);
  });

  test('is refused where none is taken', async () => {
    for (const path of [`${secrets}/BODY`, `${tokens}/${randomUUID()}`]) {
      const { detail } = await expectProblem(owner.send('DELETE', path, { value: 'x' }), 'malformed_request');
      expect(detail).toBe('this request must not have a body');
    }
  });

  test.each<[string, [string, string], number, string]>([
    [
      '8 MiB',
      ['PATCH', '{"set":{"LARGE":"x"}}'],
      8 * mebibyte,
      'the body must be at most 8 MiB; send the change in parts',
    ],
    ['2 MiB', ['PUT', '{"value":"x"}'], 2 * mebibyte, 'the body must be at most 2 MiB; a value has at most 256 KiB'],
  ])(
    'of exactly the %s of its route is read, and of one byte more is not',
    async (_size, [method, fit], bytes, text) => {
      const path = method === 'PUT' ? `${secrets}/LARGE` : secrets;
      const exact = fit + ' '.repeat(bytes - fit.length);
      await owner.expectStatus(200, method, path, exact);
      const { status, detail } = await expectProblem(owner.send(method, path, `${exact} `), 'payload_too_large');
      expect([status, detail]).toEqual([413, text]);
      // The connection stays usable.
      await owner.expectStatus(200, 'GET', '/me');
    },
  );

  test('of a value in escapes is read', async () => {
    const value = '\u0001'.repeat(256 * 1024);
    await owner.expectStatus(201, 'PUT', `${secrets}/ESCAPES`, { value, comment: '\u{1F511}'.repeat(500) });
  });

  test('of a client without a token has at most 64 KiB', async () => {
    const body = { deviceCode: 'x'.repeat(64 * 1024) };
    const { detail } = await expectProblem(api.client().send('POST', '/login-tokens', body), 'payload_too_large');
    expect(detail).toBe('the body must be at most 64 KiB; no valid request of this route is larger');
  });

  test('of a selection with as many globs as are allowed is read', async () => {
    const globs = Array.from({ length: 256 }, (_, index) => String(index).padStart(253, 'K'));
    const from = { project: 'web', environment: 'prod', revision: 1 };
    const body = { from, mode: 'missing', keys: { include: globs, exclude: globs }, dryRun: true };
    await owner.expectStatus(200, 'POST', `/environments/${world.slugs.organization}/web/prod/copy`, body);
  });

  test('of unknown length is read no further than the limit of its route', async () => {
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
    await expectProblem(owner.send('GET', `${secrets}/A`), 'not_found');
  });

  test('that names a key twice is refused as a whole', async () => {
    const body = '{"set":{"TWICE":"1","OTHER":"","TW\\u0049CE":"2"}}';
    const { errors } = await expectProblem(owner.send('PATCH', secrets, body), 'invalid_input');
    expect(errors).toEqual([{ field: 'set.TWICE', message: 'must be given once' }]);
    await expectProblem(owner.send('GET', `${secrets}/OTHER`), 'not_found');
  });

  test('is refused as a whole where one entry cannot be done', async () => {
    const { detail } = await expectProblem(
      owner.send('PATCH', secrets, {
        set: { WHOLE: '1' },
        delete: ['NOT_THERE'],
      }),
      'not_found',
    );
    expect(detail).toContain('NOT_THERE');
    await expectProblem(owner.send('GET', `${secrets}/WHOLE`), 'not_found');
  });
});
