/** @default A marked value and marked tokens are nowhere but in the Secrets that rightfully hold them. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiClient, TextBody } from '../support/api/api-client.ts';
import { ApiProxy } from '../support/faults/api-proxy.ts';
import { Canary } from '../support/fixtures/canary.ts';
import {
  databaseBytes,
  databaseRows,
  metricsText,
  problemAnswers,
  processOutput,
} from '../support/fixtures/leak-places.ts';
import { auditLog, etcdKeys, events, secretMetadata, secretSyncs } from '../support/fixtures/leak-places-cluster.ts';
import { findLeaks, type LeakPlace } from '../support/fixtures/leak-search.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { PostgresProxy } from '../support/faults/postgres-proxy.ts';
import { writesOf } from '../support/api/secret-requests.ts';
import { jwtFor } from '../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../support/oidc/jwt-signer.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

// The canary is written, read, changed, refused and repaired in every way there is; then it is looked for wherever it
// must not be. A leak planted in each place shows that the search finds it there.

const resources = new AsyncDisposableStack();
const canary = new Canary();
const values = { CANARY: canary.value };
const encoded = encodeURIComponent(canary.value);
let stack: Stack;
let controller: ServerProcess;
let proxy: ApiProxy;
let namespace: string;
let site: SyncSite;
let places: readonly LeakPlace[];
// Secrets of the cluster that rightfully hold the canary or a token, as namespace/name.
const rightful: string[] = [];
const tokens: string[] = [];

beforeAll(async () => {
  const cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
  proxy = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => proxy.close());
  controller = await stack.startController({ kubeconfigFile: proxy.kubeconfigFile, env: { RESYNC_INTERVAL: '2s' } });
  namespace = stack.takeNamespace();
  site = await makeSite('app');
  const { kube } = stack;
  places = [
    processOutput(() => stack.processes),
    problemAnswers(stack.admin.problems),
    metricsText(() =>
      [stack.api, controller].filter(({ captured }) => captured.isRunning).map(({ metricsUrl }) => metricsUrl),
    ),
    databaseRows(stack.databaseUrl),
    databaseBytes(stack.databaseUrl),
    etcdKeys(join(cluster.runFolder, 'etcd.sock'), { kube, namespace, exempt: () => rightful }),
    events(kube, namespace),
    secretSyncs(kube, () => site.syncPath),
    secretMetadata(kube, namespace),
    auditLog(cluster.auditLog ?? '', kube),
  ];
  await site.waitUntilSynced(values);
  await useApi();
  await useApiWrongly();
  await useJwts();
  await loseDatabase();
  await useController();
});

afterAll(() => resources.disposeAsync());

async function makeSite(
  name: string,
  options: { target?: object; spec?: Record<string, unknown>; values?: Record<string, string> } = {},
): Promise<SyncSite> {
  rightful.push(`${namespace}/${name}`, `${namespace}/${name}-token`);
  const made = await stack.makeSite({ namespace, name, values, ...options, target: { ...options.target } });
  tokens.push(made.token.token);
  return made;
}

/** All calls that hold or answer values, as a person and as a service token. */
async function useApi(): Promise<void> {
  const { environment } = site;
  const { token } = await environment.createToken({ permission: 'read_write' });
  tokens.push(token);
  for (const client of [stack.admin, stack.admin.as(token)]) {
    const path = `${environment.path}/KEY`;
    const versions = path.replace('/secrets/', '/versions/');
    await client.call('PUT', path, { value: canary.value, comment: 'a comment' });
    await client.call('PUT', path, { value: `other ${canary.value}` });
    expect(await client.call('GET', path)).toMatchObject({ value: `other ${canary.value}` });
    await client.call('GET', environment.path);
    await client.call('GET', versions);
    await client.call('GET', `${versions}/1`);
    await client.call('POST', `${versions}/rollback`, { targetVersion: 1 });
    await client.call('PATCH', environment.path, { set: { KEY: canary.value }, skipUnchanged: true });
    await client.call('DELETE', path);
  }
  await site.waitUntilSynced(values);
}

/** Requests that are refused and hold the canary where it does not belong. */
async function useApiWrongly(): Promise<void> {
  const { admin } = stack;
  const { ref, path } = site.environment;
  const key = `${path}/KEY`;
  const tooLarge = canary.value.repeat(8_000);
  const bodies: readonly [method: string, path: string, body: unknown][] = [
    ['PUT', key, { value: [canary.value] }],
    ['PUT', key, { value: { [canary.value]: canary.value } }],
    ['PUT', key, { value: canary.value, [canary.value]: 1 }],
    ['PUT', key, { value: tooLarge }],
    ['PUT', key, { value: `\ud800${canary.value}` }],
    ['PUT', key, { value: 'x', comment: `${canary.value}\n` }],
    ['PUT', key, { value: canary.value, expectedVersion: canary.value }],
    ['PUT', key, { value: canary.value, expectedVersion: 7 }],
    ['PUT', key, canary.value],
    ['PATCH', path, { set: { [canary.value]: canary.value } }],
    ['PATCH', path, { set: { KEY: canary.value }, delete: [canary.value] }],
    ['PATCH', path, { set: { KEY: canary.value }, expectedRevision: canary.value }],
    ['PATCH', path, { set: { KEY: 1, OTHER: canary.value } }],
    ['PATCH', path, { set: [canary.value] }],
    ['PATCH', path, { [canary.value]: {} }],
    ['POST', '/organizations', { slug: canary.value }],
    [
      'POST',
      `/service-tokens/${ref.organization}`,
      { name: canary.value, scope: canary.value, permission: canary.value },
    ],
    ['POST', `${key.replace('/secrets/', '/versions/')}/rollback`, { targetVersion: canary.value }],
  ];
  for (const [method, target, body] of bodies)
    await expectRefused(admin, method, target, { text: JSON.stringify(body) });
  await expectRefused(admin, 'PUT', key, { text: `{"value": "${encoded}` });
  await expectRefused(admin, 'PUT', key, { text: canary.value, contentType: 'text/plain' });
  await expectRefused(admin, 'PUT', `${path}/${encoded}`, { text: JSON.stringify({ value: canary.value }) });
  const { token } = await site.environment.createToken({ permission: 'read' });
  tokens.push(token);
  await expectRefused(admin.as(token), 'PUT', key, { text: JSON.stringify({ value: canary.value }) });
  for (const target of [
    `${path}/${encoded}`,
    `/secrets/${encoded}/a/b`,
    `${path}?${encoded}=${encoded}`,
    `/${encoded}`,
  ]) {
    await expectRefused(admin, 'GET', target);
  }
  await expectRefused(admin, 'GET', `${key.replace('/secrets/', '/versions/')}?cursor=${encoded}&limit=${encoded}`);
  for (const bearer of [encoded, `kf_svc_${encoded}`, `${token}x`]) await expectRefused(admin.as(bearer), 'GET', path);
}

async function expectRefused(client: ApiClient, method: string, path: string, body: TextBody = {}): Promise<void> {
  const { status } = await client.sendText(method, path, body);
  expect({ method, path, body, status, refused: status >= 400 && status < 500 }).toMatchObject({ refused: true });
}

/** JWTs with the canary in a claim: presented, refused, explained, and where they do not belong. */
async function useJwts(): Promise<void> {
  const { admin } = stack;
  const { ref, path } = site.environment;
  const signer = new JwtSigner('ES256');
  const issuer = { iss: 'https://issuer.keyframe.test' };
  const content = { preset: 'none', ...issuer, keys: [signer.jwk], algorithms: ['ES256'] };
  await admin.call('PUT', '/trusted-issuers/canary', content);
  const federation = { issuer: 'canary', claims: { sub: ['ci'] } };
  const serviceTokens = `/service-tokens/${ref.organization}`;
  const body = { name: 'jwt', scope: 'organization', permission: 'read', federation };
  const made = await admin.call<{ id: string; federation: { audience: string } }>('POST', serviceTokens, body);
  const { audience } = made.federation;
  const sign = (claims: object = {}, by = signer): string => {
    const jwt = jwtFor(by, issuer, audience, { sub: 'ci', note: canary.value, ...claims });
    tokens.push(jwt);
    return jwt;
  };
  const explain = async (jwt: string): Promise<void> => {
    const explained = JSON.stringify(await admin.call('POST', `${serviceTokens}/${made.id}/explain`, { jwt }));
    for (const secret of [canary, new Canary(jwt)]) expect(secret.traces(Buffer.from(explained))).toEqual([]);
  };
  const valid = sign();
  await admin.as(valid).call('GET', path);
  await explain(valid);
  const refused = [
    sign({ sub: canary.value }),
    sign({ aud: canary.value }),
    sign({ aud: [audience, canary.value] }),
    sign(timesFor(60, Date.now() - 3_600_000)),
    sign({}, new JwtSigner('ES256', signer.keyId)),
    sign({}, new JwtSigner('ES256')),
    `${valid}.${encoded}`,
  ];
  for (const jwt of refused) {
    await expectRefused(admin.as(jwt), 'GET', path);
    await explain(jwt);
  }
  await expectRefused(admin, 'GET', `/secrets/${valid}/a/b`);
  await expectRefused(admin.as(valid), 'PUT', `${path}/KEY`, { text: JSON.stringify({ value: valid }) });
  await expectRefused(admin, 'POST', serviceTokens, { text: JSON.stringify({ ...body, name: valid }) });
  await admin.call('DELETE', `${serviceTokens}/${made.id}`);
  await expectRefused(admin.as(valid), 'GET', path);
}

/** The database breaks off in the middle of writes. */
async function loseDatabase(): Promise<void> {
  const database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  const api = await stack.startApi(database.url);
  const client = stack.admin.at(api.url);
  for (const statement of [/INSERT INTO\s+"?secret_version/i, /^COMMIT/i, /INSERT INTO\s+"?audit_entry/i]) {
    const cut = database.cut(({ sql, type }) => type !== 'Parse' && statement.test(sql ?? ''), 'before');
    const { status } = await client.send('PUT', `${site.environment.path}/LOST`, { value: canary.value });
    expect(status).toBeGreaterThanOrEqual(500);
    await cut.arrived();
  }
  await api.stop();
}

/** Repairs, refusals and conflicts of the controller, with API server's answers that quote the canary. */
async function useController(): Promise<void> {
  await site.patchSecret({ stringData: { CANARY: `edited ${canary.value}` } });
  await site.waitUntilSynced(values);
  await site.patchSecret({ immutable: true, stringData: { OTHER: canary.value } });
  await site.waitUntilSynced(values);
  const invalid = await makeSite('invalid', {
    values: { '.dockerconfigjson': canary.value },
    target: { type: 'kubernetes.io/dockerconfigjson' },
  });
  await invalid.waitForReason('TypeUnmet');
  const undecodable = await makeSite('undecodable', { spec: { keys: { decodeBase64: ['*'] } } });
  await undecodable.waitForReason('NotBase64');
  // Composed, it is where it may be; a message about what cannot be composed has names alone.
  const composed = await makeSite('composed', { spec: { template: { data: { T: '<$(CANARY | base64 | json)>' } } } });
  await composed.waitForReason('Synced');
  const binary = `x${Buffer.from([0xff]).toString('latin1')}`;
  const decoded = {
    values: { ...values, RAW: Buffer.from(`${canary.value}${binary}`, 'latin1').toString('base64') },
    spec: { keys: { decodeBase64: ['RAW'] }, template: { data: { T: '$(CANARY)$(RAW)' } } },
  };
  await (await makeSite('binary', decoded)).waitForReason('TemplateValueBinary');
  const lacking = { spec: { template: { data: { T: '$(CANARY) $(MISSING)' } } } };
  await (await makeSite('lacking', lacking)).waitForReason('TemplateKeyMissing');
  const endless = { spec: { template: { data: { T: `$(CANARY${' | base64'.repeat(60)})` } } } };
  await (await makeSite('endless', endless)).waitForReason('TooLarge');
  const fields = {
    values: { ...values, HIDDEN: `{"f": "${encoded}"} ${canary.value}` },
    spec: { keys: { hidden: ['HIDDEN', 'CANARY'] }, template: { data: { T: '$(HIDDEN | json "f")$(CANARY | trim)' } } },
  };
  await (await makeSite('fields', fields)).waitForReason('TemplateFieldMissing');
  const quoting = {
    kind: 'Status',
    status: 'Failure',
    reason: canary.value,
    message: `"${canary.value}" is wrong`,
    code: 422,
  };
  const quoted = proxy.answer(writesOf(site, 'PUT'), { status: 422, body: JSON.stringify(quoting) });
  await site.deleteSecret();
  await site.waitUntilSynced(values);
  await site.patchSecret({ data: null });
  await quoted.arrived();
  await site.waitUntilSynced(values);
  const foreign = await makeSite('foreign');
  await foreign.waitUntilSynced(values);
  await foreign.patchSecret({ metadata: { annotations: { 'keyframe.dev/owned-by': null } } });
  await foreign.waitForReason('TargetNotOwned');
  const mistaken = await makeSite('mistaken');
  await mistaken.putToken(canary.value);
  await mistaken.waitForReason('TokenSecretNotFound');
  await mistaken.putToken(`kf_svc_${canary.value}`);
  await mistaken.waitForReason('AuthenticationFailed');
}

describe('the canary', () => {
  test('is in the Secrets that rightfully hold it, where the search finds it', async () => {
    const inEtcd = places.filter(({ name }) => name === 'etcd');
    const held = rightful.splice(0);
    const leaks = await findLeaks(canary, inEtcd);
    rightful.push(...held);
    expect(leaks.map(({ piece }) => piece)).toContain(`/registry/secrets/${namespace}/${site.name}`);
  });

  test('is nowhere else', async () => {
    expect(stack.admin.problems.length).toBeGreaterThan(25);
    expect(await findLeaks(canary, places)).toEqual([]);
  });

  test('has company: no token, key or password is in any of these places either', async () => {
    const { password } = new URL(stack.databaseUrl);
    const secrets = [...tokens, stack.adminToken, stack.rootKey, password];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThanOrEqual(32);
      expect(await findLeaks(new Canary(secret), places)).toEqual([]);
    }
  });
});

describe('a leak that was planted', () => {
  // Not to have it put the planted status right.
  beforeAll(async () => void (await controller.stop()));

  test.each([
    'process output',
    'problem answers',
    'metrics',
    'database rows',
    'database bytes',
    'etcd',
    'Events',
    'SecretSyncs',
    'metadata of Secrets',
    'audit log',
  ])('in «%s» is found there, plain and encoded', async (name) => {
    const place = places.find((candidate) => candidate.name === name);
    // One of its own, so that a true leak does not stand in for it.
    const planted = new Canary();
    for (const text of [planted.value, Buffer.from(`x${planted.value}`).toString('base64')]) {
      const remove = await place?.plant(text);
      expect((await findLeaks(planted, places)).map((leak) => leak.place)).toContain(name);
      await remove?.();
    }
    expect(await findLeaks(planted, places)).toEqual([]);
  });

  test('can be planted in every place that is searched', () => {
    expect(places).toHaveLength(10);
  });
});
