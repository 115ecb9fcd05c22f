import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { type HttpClient, type TestApi, startTestApi } from '../../support/api/http.ts';
import { type TestToken, type World, createWorld } from '../../support/api/services.ts';

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

interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly label: string | null;
  readonly organization_id: string | null;
  readonly actor_id: string;
  readonly target: Record<string, unknown>;
}

async function entries(requestId: string | null): Promise<Entry[]> {
  const { rows } = await api.services.database.pool.query<Entry>('SELECT * FROM audit_entry WHERE request_id = $1', [
    requestId,
  ]);
  return rows;
}

describe('a failed request of a service token', () => {
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

describe('a failed request of a person', () => {
  test.each<[string, string, unknown, Partial<Entry>]>([
    ['GET', 'versions KEY?limit=0', undefined, { action: 'version.list', target: { key: 'KEY' } }],
    ['GET', 'versions KEY?cursor=x', undefined, { action: 'version.list', target: { key: 'KEY' } }],
    ['GET', 'versions ..x', undefined, { action: 'version.list', target: {} }],
    ['GET', 'versions KEY/0', undefined, { action: 'version.read', target: { key: 'KEY' } }],
    ['POST', 'versions KEY/rollback', {}, { action: 'version.rollback', target: { key: 'KEY' } }],
    ['POST', 'versions KEY/rollback', '{', { action: 'version.rollback', target: { key: 'KEY' } }],
    ['GET', 'secrets KEY?x=1', undefined, { action: 'secret.read', target: { key: 'KEY' } }],
  ])('%s %s leaves one audit entry in the organization', async (method, what, body, entry) => {
    const { organization } = world.slugs;
    const [resource, path] = what.split(' ');
    const answer = await owner.send(method, `/${resource}/${organization}/web/prod/${path}`, body);
    expect([400, 422]).toContain(answer.status);
    const row = { outcome: 'failed', organization_id: world.organization.id, actor_id: world.owner.id, label: null };
    const found = await entries(answer.headers.get('x-request-id'));
    expect(found).toMatchObject([{ ...row, ...entry }]);
    expect(found[0]?.target).toMatchObject({ organization, project: 'web', environment: 'prod' });
  });

  test('to a place that is hidden from them leaves one, in no organization', async () => {
    const stranger = api.client(world.stranger.token);
    const answer = await stranger.send('GET', `/versions/${world.slugs.organization}/web/prod/KEY?limit=0`);
    expect(answer.status).toBe(404);
    expect(await entries(answer.headers.get('x-request-id'))).toMatchObject([{ organization_id: null }]);
  });
});

describe('a token that is refused', () => {
  beforeEach(() => void (api.logs as unknown[]).splice(0));

  async function refused(token: { reveal(): string }): Promise<Entry[]> {
    const answer = await api.client(token).send('GET', `${secrets}/A`);
    expect(answer.status).toBe(401);
    return entries(answer.headers.get('x-request-id'));
  }

  const sql = (text: string, ...values: unknown[]): Promise<unknown> => api.services.database.pool.query(text, values);

  test.each([
    ['revoked', 'UPDATE service_token SET revoked_at = now() WHERE id = $1'],
    [
      'expired',
      `UPDATE service_token_credential SET expires_at = now() - interval '1 second' WHERE service_token_id = $1`,
    ],
  ])('because it is %s leaves a denial in the organization, and its id in the log', async (fault, statement) => {
    const token = await world.serviceToken();
    await sql(statement, token.id);
    const row = { action: 'authenticate', outcome: 'denied', target: { fault }, label: '[Service Token]' };
    const chain = { organization_id: world.organization.id, actor_id: token.id };
    expect(await refused(token.token)).toMatchObject([{ ...row, ...chain }]);
    expect(api.logs).toMatchObject([{ status: 401, code: 'unauthenticated', fault, principalId: token.id }]);
  });

  test('because its user is disabled leaves a denial', async () => {
    const { id, token } = world.stranger;
    await sql('UPDATE app_user SET disabled_at = now() WHERE id = $1', id);
    const row = { action: 'authenticate', outcome: 'denied', actor_id: id, target: { fault: 'disabled' } };
    expect(await refused(token)).toMatchObject([{ ...row, organization_id: null, label: null }]);
    expect(api.logs).toMatchObject([{ fault: 'disabled', principalId: id }]);
  });

  test.each([
    ['is unknown', 'unknown', () => generateToken('service_token', randomUUID()).token],
    [
      'has the id of a revoked one and another secret part',
      'unknown',
      async () => {
        const { id, caller } = await world.serviceToken();
        await sql('UPDATE service_token SET revoked_at = now() WHERE id = $1', id);
        return generateToken('service_token', caller.principal.credentialId).token;
      },
    ],
    ['is malformed', 'malformed', () => ({ reveal: () => 'kf_svc_x' })],
  ])('because it %s is in the log alone', async (_case, fault, make) => {
    const token = await make();
    const count = async (): Promise<number> => prismaOf(api.services.database).auditEntry.count();
    const before = await count();
    expect(await refused(token)).toEqual([]);
    expect(await count()).toBe(before);
    expect(api.logs).toMatchObject([{ status: 401, fault }]);
    expect(api.logs[0]).not.toHaveProperty('principalId');
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
    'fault',
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

  test('and the metrics name routes by their templates', async () => {
    await owner.send('GET', `${secrets}/${word}`);
    const text = await api.metrics.render();
    const labels = 'method="GET",route="/api/v1/secrets/{org}/{project}/{env}/{key}",status="200"';
    expect(text).toContain(`keyframe_http_request_duration_seconds_count{${labels}}`);
    expect(text).toContain('route="unmatched",status="404"');
    expect(text).not.toContain(word);
  });
});
