import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { KubeConfig } from '@kubernetes/client-node';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { KubeClient } from '../../../src/kube/client/client.ts';
import { KubeConfigError, loadKubeConfig } from '../../../src/kube/client/connection.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { errorFields } from '../../../src/observability/logger.ts';
import { ScriptedApi, json, list, status, watch } from './scripted-api.ts';

let api: ScriptedApi;
let client: KubeClient;

beforeEach(async () => {
  api = await ScriptedApi.start();
  client = api.client();
});

afterEach(async () => {
  await client.close();
  await api.stop();
});

async function failure(call: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, not ${inspect(error)}`);
  return error;
}

describe('a request', () => {
  test('sends JSON with its query and answers the JSON', async () => {
    api.onOther(json({ metadata: { name: 'made' } }));
    const path = '/api/v1/namespaces/ns/secrets';
    const answer = await client.request({
      method: 'POST',
      path,
      query: { dryRun: 'All' },
      body: { data: { a: 'YQ==' } },
    });
    expect(answer).toEqual({ metadata: { name: 'made' } });
    expect(api.requests).toMatchObject([{ method: 'POST', path, body: '{"data":{"a":"YQ=="}}' }]);
    expect(api.requests[0]?.query.get('dryRun')).toBe('All');
  });

  test('one after another goes over connections that stay', async () => {
    api.onList(list('1', []));
    for (let count = 0; count < 20; count += 1) await client.request({ method: 'GET', path: '/api' });
    // The second is opened where a request follows within the same tick as the answer before it.
    expect(api.connections).toBeLessThanOrEqual(2);
  });

  test('with a limit of bytes answers what is as long, and refuses what is longer', async () => {
    const text = JSON.stringify({ items: 'x'.repeat(100_000) });
    api.onList(json({ items: 'x'.repeat(100_000) }), json({ items: 'x'.repeat(100_000) }));
    const call = { method: 'GET', path: '/openid/v1/jwks' } as const;
    expect(await client.request({ ...call, maxBytes: text.length })).toMatchObject({ items: expect.anything() });
    const error = await failure(client.request({ ...call, maxBytes: text.length - 1 }));
    expect(error).toMatchObject({ status: 0, reason: 'TooLarge', message: 'GET /openid/v1/jwks: TooLarge' });
  });

  test('is refused with the status and the one-word reason, and nothing of the message or body', async () => {
    const message = 'Secret "x" is invalid: data[a]: canary-value';
    api.onOther(status(422, 'Invalid', { message }));
    const error = await failure(client.request({ method: 'PUT', path: '/x', body: { data: { a: 'canary-body' } } }));
    expect(error).toMatchObject({
      status: 422,
      reason: 'Invalid',
      message: 'PUT /x: 422 Invalid',
      code: '422 Invalid',
    });
    const seen = `${inspect(error, { depth: 10 })} ${JSON.stringify(errorFields(error))}`;
    expect(seen).not.toContain('canary');
  });

  test('takes no reason that is more than a word, for it could be data', async () => {
    api.onOther(status(400, 'canary value'));
    const error = await failure(client.request({ method: 'PUT', path: '/x', body: {} }));
    expect([error.status, error.reason]).toEqual([400, 'Unknown']);
  });

  test('that is answered by something other than JSON fails with its status alone', async () => {
    api.onOther((response) => {
      response.writeHead(502);
      response.end('<html>canary</html>');
    });
    const error = await failure(client.request({ method: 'PUT', path: '/x', body: {} }));
    expect([error.status, error.reason]).toEqual([502, 'Unknown']);
  });

  test.each([
    ['7', 7000],
    ['999999', 300_000],
    ['Fri, 21 Nov 2026 10:00:00 GMT', undefined],
  ])('answered with Retry-After %s is to be left alone for %s ms', async (header, retryAfterMs) => {
    api.onList(status(429, 'TooManyRequests', { headers: { 'retry-after': header } }));
    expect((await failure(client.request({ method: 'GET', path: '/x' }))).retryAfterMs).toBe(retryAfterMs);
  });

  test('that gets no answer in time is a Timeout', async () => {
    api.onList(() => {});
    const error = await failure(client.request({ method: 'GET', path: '/x', timeoutMs: 50 }));
    expect([error.status, error.reason]).toEqual([0, 'Timeout']);
  });

  test('whose answer stops half-way is a Timeout too', async () => {
    api.onList((response) => void response.write('{"half":'));
    const error = await failure(client.request({ method: 'GET', path: '/x', timeoutMs: 50 }));
    expect([error.status, error.reason]).toEqual([0, 'Timeout']);
  });

  test('that reaches no server is Unreachable', async () => {
    await api.stop();
    const error = await failure(client.request({ method: 'GET', path: '/x' }));
    expect([error.status, error.reason]).toEqual([0, 'Unreachable']);
    api = await ScriptedApi.start();
  });
});

test('a call is never kept waiting by watches that are open', async () => {
  api.onList(list('1', []));
  api.onWatch(watch());
  const cut = new AbortController();
  const watches = Array.from({ length: 20 }, async () => {
    await client.watch({ path: '/api', query: { watch: 'true' }, signal: cut.signal });
  });
  await Promise.all(watches);
  await client.request({ method: 'GET', path: '/api', timeoutMs: 60_000 });
  expect(api.watches).toHaveLength(20);
  cut.abort();
});

test('a watch may be silent for longer than a call may take', async () => {
  api.onWatch((response) => {
    response.writeHead(200);
    response.flushHeaders();
    setTimeout(() => response.end('late\n'), 6_000);
  });
  const { signal } = new AbortController();
  const body = await client.watch({ path: '/api', query: { watch: 'true' }, signal, timeoutMs: 4_000 });
  const chunks: string[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk).toString());
  expect(chunks.join('')).toBe('late\n');
});

describe('credentials', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keyframe-kube-'));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('of a token file are sent without the line end that files often have', async () => {
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'from-the-file\n');
    const withFile = api.client({ authProvider: { name: 'tokenFile', config: { tokenFile } } });
    let authorization: string | undefined;
    api.onList((response) => {
      authorization = response.req.headers.authorization;
      list('1', [])(response, api.requests[0] ?? failNow());
    });
    await withFile.request({ method: 'GET', path: '/api' });
    await withFile.close();
    expect(authorization).toBe('Bearer from-the-file');
  });

  test.each([
    ['is not there', undefined, 'cannot be read or is invalid'],
    ['is no YAML mapping', '- a\n- b\n', 'has no current context with a cluster and a user'],
    [
      'names no context',
      '{"clusters":[],"users":[],"contexts":[]}',
      'has no current context with a cluster and a user',
    ],
  ])('from a kubeconfig file that %s are refused by a message that names the file', (_, content, fault) => {
    const file = join(folder, 'kubeconfig');
    if (content !== undefined) writeFileSync(file, content);
    expect(() => loadKubeConfig(file)).toThrow(KubeConfigError);
    expect(() => loadKubeConfig(file)).toThrow(`the kubeconfig file ${file} ${fault}`);
  });

  test('outside a pod without a kubeconfig file are refused by a message that says what to set', () => {
    expect(() => KubeClient.load({ clock: systemClock })).toThrow(
      'this process is not in a pod with a Kubernetes service account: set KEYFRAME_KUBECONFIG_FILE to a kubeconfig file',
    );
  });
});

function failNow(): never {
  throw new Error('no request was seen');
}

test.each([
  { name: 'of its context', namespace: 'keyframe', known: 'keyframe' },
  { name: 'where the context names none', namespace: undefined, known: undefined },
])('the namespace $name is known', ({ namespace, known }) => {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'c', server: 'https://127.0.0.1' }],
    users: [{ name: 'u' }],
    contexts: [{ name: 'x', cluster: 'c', user: 'u', ...(namespace === undefined ? {} : { namespace }) }],
    currentContext: 'x',
  });
  expect(new KubeClient({ config, clock: systemClock }).namespace).toBe(known);
});
