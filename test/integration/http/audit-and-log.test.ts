import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Canary } from '../../support/canary.ts';
import { type HttpClient, type TestApi, startTestApi } from '../../support/http.ts';
import { type TestToken, type World, createWorld } from '../../support/services.ts';

const canary = new Canary();
/** What of the canary survives every way of writing it. */
const word = canary.value.slice(0, 16);
let api: TestApi;
let world: World;
let owner: HttpClient;
let readOnly: TestToken;
let secrets: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  readOnly = await world.serviceToken({ permission: 'read' });
  secrets = `/secrets/${world.slugs.organization}/web/prod`;
});

afterAll(() => api.close());

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

  test.each<[string, [string, string, unknown], [number, Partial<Entry>]]>([
    ['that is forbidden', ['PUT', 'A', { value: 'x' }], [403, { action: 'secret.write', outcome: 'denied' }]],
    ['for a malformed key', ['GET', '..bad', undefined], [422, { action: 'secret.read', outcome: 'failed' }]],
    ['for a key that is not there', ['GET', 'NONE', undefined], [404, { action: 'secret.read', outcome: 'failed' }]],
    ['with an unknown query', ['GET', 'A?values=1', undefined], [422, { action: 'secret.read', outcome: 'failed' }]],
  ])('%s leaves one audit entry', async (_case, [method, key, body], [status, entry]) => {
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

  test('for what cannot be a key leaves one audit entry, which does not repeat it', async () => {
    const answer = await api.client(readOnly.token).send('GET', `${secrets}/${word}%20`);
    expect(answer.status).toBe(422);
    const [entry, ...others] = await entries(answer.headers.get('x-request-id'));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ outcome: 'failed', target: { environment: 'prod', error: 'invalid_input' } });
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
    await api.client({ reveal: () => word }).send('GET', '/me');
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
