import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import {
  claimName,
  newHomeToken,
  registerCluster,
  type RemoteCluster,
} from '../../support/database/cluster-credentials.ts';
import { clusterMethods } from '../../../src/wire/cluster/methods.ts';

/** The routes below /api/v1/cluster, as requests reach them. */

let api: TestApi;
let world: World;
let homeToken: string;
let remote: RemoteCluster;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  homeToken = await newHomeToken(api.services.database.pool);
  await claimName(api.services.database.pool, 'home-1', hello.uid);
  remote = await registerCluster(api.services.database.pool, `fra-${randomUUID()}`);
});

afterAll(() => api.close());

const process = randomUUID();

async function post(
  path: string,
  body: unknown,
  { token = homeToken, headers = {} }: { readonly token?: string; readonly headers?: Record<string, string> } = {},
): Promise<{ readonly status: number; readonly body: unknown; readonly headers: Headers }> {
  const client = new HttpClient(`http://127.0.0.1:${api.port}`, token);
  const own = { 'keyframe-cluster': 'home-1', 'keyframe-process': process, ...headers };
  return await client.send('POST', `/cluster/${path}`, body, own);
}

const ofRemote = (): { readonly token: string; readonly headers: Record<string, string> } => ({
  token: remote.token(),
  headers: { 'keyframe-cluster': remote.name },
});

function asker(kind = 'ServiceToken'): Record<string, unknown> {
  const namespace = kind === 'SecretEnvironment' ? null : 'team-a';
  return { kind, namespace, name: 'own', uid: randomUUID(), requestId: randomUUID() };
}

const hello = { uid: randomUUID(), isLeading: false, kinds: [], release: '1.0.0', protocol: { min: 1, max: 1 } };

describe('a request', () => {
  test('of a home cluster is answered', async () => {
    const { status, body } = await post('hello', hello);
    expect(status).toBe(200);
    expect(body).toEqual({
      result: { state: 'enabled', isHome: true, now: expect.any(String), fingerprintKey: expect.any(String) },
    });
  });

  test('of a remote cluster is answered as one', async () => {
    const { body } = await post('hello', hello, ofRemote());
    expect(body).toMatchObject({ result: { isHome: false } });
  });

  test('of a cluster that is not enabled gets no key of fingerprints with its hello', async () => {
    const { pool } = api.services.database;
    const name = `stopped-${randomUUID()}`;
    await claimName(pool, name, hello.uid);
    for (const column of ['disabled_at', 'forgotten_at']) {
      await pool.query(`UPDATE served_cluster SET ${column} = now() WHERE name = $1`, [name]);
      const { body } = await post('hello', hello, { headers: { 'keyframe-cluster': name } });
      expect(body).toEqual({ result: { state: expect.any(String), isHome: true, now: expect.any(String) } });
    }
  });

  test('is logged with its cluster, its route and the code of an error, and without what it has', async () => {
    const own = asker('SecretSnapshot');
    const slugs = { ...world.slugs, environment: 'canary-slug' };
    await post('resources/snapshots/take', { asker: { ...own, grants: [] }, slugs, input: { name: 'canary-name' } });
    const line = api.logs.findLast(({ msg }) => msg === 'request');
    expect(line).toMatchObject({
      route: '/api/v1/cluster/resources/snapshots/take',
      cluster: 'home-1',
      status: 200,
      code: 'forbidden',
    });
    expect(JSON.stringify(line)).not.toContain('canary');
  });

  test('is audited with its cluster and the address that it came from', async () => {
    const take = asker('SecretSnapshot');
    await post('resources/snapshots/take', { asker: { ...take, grants: [] }, slugs: world.slugs, input: {} });
    const { kind: _kind, ...sync } = asker();
    const source = { slugs: world.slugs, credential: 'keyless', state: 'newest' };
    await post('reads', { namespaces: [], items: [{ asker: sync, sources: [source], maxKeys: 1 }] });
    const { rows } = await api.services.database.pool.query(
      'SELECT outcome, cluster, source_address AS address FROM audit_entry WHERE actor_id = ANY($1::uuid[])',
      [[take['uid'], sync['uid']]],
    );
    const denied = { outcome: 'denied', cluster: 'home-1', address: '127.0.0.1' };
    expect(rows).toEqual([denied, denied]);
  });

  test('has the result null of a method that returns nothing', async () => {
    expect(await post('sync-states/seen', {})).toMatchObject({ status: 200, body: { result: null } });
    const found = await post('resources/snapshots/find', { asker: asker('SecretSnapshot') });
    expect(found).toMatchObject({ status: 200, body: { result: null } });
  });

  test('returns an error of the services with 200', async () => {
    const { status, body } = await post('resources/service-tokens/revoke-serial', {
      asker: asker('SecretSnapshot'),
      serial: 1,
    });
    expect(status).toBe(200);
    expect(body).toEqual({ error: { code: 'forbidden', detail: 'no SecretSnapshot may do service_token.revoke' } });
  });

  test('of a method that this release does not have gets 404', async () => {
    expect(await post('resources/secret-rotations/find', {})).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });

  test('other than POST gets 405', async () => {
    const client = new HttpClient(`http://127.0.0.1:${api.port}`, homeToken);
    expect(await client.send('GET', '/cluster/hello')).toMatchObject({ status: 405 });
  });

  test('without its process gets 400', async () => {
    const answer = await post('hello', hello, { headers: { 'keyframe-process': 'mine' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'malformed_request' } });
  });

  test('with an unknown member gets 422', async () => {
    expect(await post('hello', { ...hello, more: 1 })).toMatchObject({ status: 422, body: { code: 'invalid_input' } });
  });

  test('that is too large gets 413', async () => {
    const ids = Array.from({ length: 10_020 }, () => randomUUID());
    expect(await post('compare', { keptIds: ids })).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await post('hello', { ...hello, release: 'x'.repeat(65 * 1024) })).toMatchObject({ status: 413 });
    const legal = ids.slice(0, 10_000);
    expect(await post('compare', { keptIds: legal })).toMatchObject({ status: 200 });
  });
});

describe('every method', () => {
  test.each(Object.keys(clusterMethods))('%s takes the token of a cluster only', async (path) => {
    const service = await world.serviceToken();
    for (const token of [world.owner.token.reveal(), service.token.reveal(), 'kf_cls_guessed', '']) {
      expect(await post(path, {}, { token })).toMatchObject({ status: 401 });
    }
    // Another cluster than that of the token.
    expect(await post(path, {}, { ...ofRemote(), headers: { 'keyframe-cluster': 'home-1' } })).toMatchObject({
      status: 401,
    });
    expect(await post(path, {}, { headers: { 'keyframe-cluster': remote.name } })).toMatchObject({
      status: 401,
      body: { code: 'cluster_unknown' },
    });
  });
});

test.each(Object.keys(clusterMethods).filter((path) => path !== 'hello'))(
  '%s does nothing for a name that the home token made up',
  async (path) => {
    const headers = { 'keyframe-cluster': `made-up-${randomUUID()}` };
    const answer = await post(path, {}, { headers });
    expect(answer).toMatchObject({ status: 429, body: { code: 'limit_exceeded' } });
    expect(answer.headers.get('retry-after')).toBe('1');
  },
);

describe('a remote cluster', () => {
  test('makes no environments', async () => {
    const own = asker('SecretEnvironment');
    const input = { ...world.slugs, environment: 'made-elsewhere' };
    for (const [path, body] of [
      ['ensure', { asker: own, input }],
      ['find', { asker: own }],
      ['delete', { asker: own, slugs: world.slugs }],
      ['hand-over', { asker: own, input: { ...input, successor: { name: 'next', uid: randomUUID() } } }],
      ['appoint-owners', { asker: own, input: { organization: input.organization, owners: ['a@example.test'] } }],
    ] as const) {
      const answer = await post(`resources/environments/${path}`, body, ofRemote());
      expect(answer).toMatchObject({ status: 200, body: { error: { code: 'served_at_home_only' } } });
    }
  });

  test('gets no value after its right was withdrawn, with whatever it was admitted to before', async () => {
    const secrets = await world.onEnvironment(world.developer.caller, 'secret.write');
    await api.services.secrets.put(secrets, 'KEY', { value: new Plaintext('canary-value') });
    const rules = new ClusterCalls(api.services, world);
    await rules.set([clusterRule(world)], { cluster: remote.name });
    const { namespace, name, uid, requestId } = asker();
    const own = { namespace, name, uid, requestId };
    const grants = [ruleFor(world, { permission: 'read', kinds: ['SecretSync'] })];
    const source = { slugs: world.slugs, credential: 'keyless' };
    const reads = await post(
      'reads',
      {
        namespaces: [{ namespace, grants }],
        items: [{ asker: own, sources: [{ ...source, state: 'newest' }], maxKeys: 10 }],
      },
      ofRemote(),
    );
    const { result } = reads.body as { result: { items: [{ answer: { sources: [Record<string, never>] } }] } };
    const [{ token, environmentId, state }] = result.items[0].answer.sources as unknown as [
      { token: { id: string }; environmentId: string; state: { revision: number; revisionId: string } },
    ];
    const { revision, revisionId } = state;
    const values = {
      source: { ...source, asker: { ...own, grants }, tokenId: token.id, environmentId },
      state: { environmentId, revision, revisionId, keyCount: 1 },
      keys: ['KEY'],
    };
    await rules.set([], { cluster: remote.name });
    const refused = await post('values', values, ofRemote());
    expect(refused.body).toMatchObject({ error: { code: 'cluster_not_allowed' } });
    await rules.set([clusterRule(world)], { cluster: remote.name });
    expect((await post('values', values, ofRemote())).body).toEqual({ result: [['KEY', 'canary-value']] });
    expect(JSON.stringify(api.logs)).not.toContain('canary-value');
  });

  test('gets nothing of an organization that does not allow it, and what a rule covers of one that does', async () => {
    const other = await createWorld(api.services);
    const grants = [{ ...ruleFor(other, { permission: 'read', kinds: ['SecretSync'] }) }];
    const { kind, ...named } = asker();
    expect(kind).toBeDefined();
    const source = { slugs: other.slugs, credential: 'keyless', state: 'newest' };
    const read = async (): Promise<unknown> => {
      const body = {
        namespaces: [{ namespace: 'team-a', grants }],
        items: [{ asker: named, sources: [source], maxKeys: 10 }],
      };
      return (await post('reads', body, ofRemote())).body;
    };
    expect(await read()).toMatchObject({
      result: { items: [{ outcome: 'read', answer: { refusal: { error: { code: 'cluster_not_allowed' } } } }] },
    });
    await new ClusterCalls(api.services, other).set([clusterRule(other)], { cluster: remote.name });
    expect(await read()).toMatchObject({
      result: { items: [{ outcome: 'read', answer: { sources: [{ environmentId: other.environment.id }] } }] },
    });
  });
});
