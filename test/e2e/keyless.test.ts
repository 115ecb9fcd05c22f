import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { AuditLog } from '../support/cluster/audit-log.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { type AuditedRead, auditedReads, keylessTokensOf, refusedReads } from '../support/cluster/keyless-tokens.ts';
import { runKubectl, waitByKubectl } from '../support/cluster/kubectl.ts';
import { etcdKeys } from '../support/fixtures/leak-places-cluster.ts';
import { ObjectHistory } from '../support/cluster/object-history.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { conditionsOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { parentOf } from '../support/cluster/sync-site.ts';
import { TokenSync, type TokenSyncOptions } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** A SecretSync that names no token reads with the keyless token of its namespace. */

const resources = new AsyncDisposableStack();
const alpha = { A: 'alpha' };
let cluster: Cluster;
let stack: Stack;

beforeAll(async () => {
  // Of its own: its etcd is searched, and SecretEnvironments are the whole cluster's.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 14, adminKubeconfig: cluster.kubeconfig });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

function make(options: TokenSyncOptions = {}): Promise<TokenSync> {
  return TokenSync.make(stack, { kinds: ['SecretSync'], ...options });
}

async function makeSynced(): Promise<TokenSync> {
  const sync = await make();
  await sync.create();
  await sync.waitForValues(alpha);
  return sync;
}

interface ObjectEvent {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly reportingController: string;
  readonly regarding: { readonly kind: string; readonly namespace?: string; readonly name: string };
}

/** The Events of our controller about these names. */
async function eventsOf(...names: string[]): Promise<ObjectEvent[]> {
  const { items } = await stack.kube.json<{ items: ObjectEvent[] }>({ path: '/apis/events.k8s.io/v1/events' });
  return items.filter(
    ({ reportingController, regarding }) =>
      reportingController.startsWith('keyframe.dev/') && names.includes(regarding.name),
  );
}

describe('one kubectl apply of an AccessGrant, a SecretEnvironment and a SecretSync', () => {
  test.each([
    ['in the order of their dependencies', ['grant', 'environment', 'sync']],
    ['in the opposite order', ['sync', 'environment', 'grant']],
  ] as const)('%s becomes ready without a warning', async (_, order) => {
    const { organization } = (await stack.admin.makeEnvironment()).ref;
    const [namespace, name] = [stack.takeNamespace(), order[0]];
    const place = `organization: ${organization}, project: made`;
    const header = (kind: string, more = ''): string =>
      `apiVersion: keyframe.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: first-${name}${more} }\nspec:\n`;
    const objects = {
      grant: `${header('AccessGrant')}  namespaces: [${namespace}]
  rules: [{ ${place}, environments: [here], kinds: [SecretSync] }]\n`,
      environment: `${header('SecretEnvironment')}  environmentRef: { ${place}, name: here }\n`,
      sync: `${header('SecretSync', `, namespace: ${namespace}`)}  environmentRef: { ${place}, name: here }\n`,
    };
    const file = join(cluster.runFolder, `first-${name}.yaml`);
    writeFileSync(file, order.map((one) => objects[one]).join('---\n'));
    const collection = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
    const history = new ObjectHistory<SecretSync>(stack.kube, collection);
    const mark = await history.mark();
    await runKubectl(cluster, ['apply', '--filename', file]);
    const waited = { namespace, name: `secretsync/first-${name}`, condition: 'Ready' };
    expect(await waitByKubectl(cluster, waited)).toMatch(/ condition met\n$/);
    await stack.admin.call('PATCH', `/secrets/${organization}/made/here`, { set: { A: 'followed' } });
    await waitFor('the Secret to follow', async () => {
      const path = `/api/v1/namespaces/${namespace}/secrets/first-${name}`;
      const secret = await stack.kube.find<{ data?: Record<string, string> }>({ path });
      return secret?.data?.['A'] === btoa('followed');
    });
    const states = await history.since(mark);
    expect(conditionsOf(states.at(-1) as SecretSync)).toContain('Ready True');
    expect(states.flatMap(conditionsOf)).not.toContain('Stalled True');
    expect((await eventsOf(`first-${name}`)).filter(({ type }) => type !== 'Normal')).toEqual([]);
  });
});

describe('a new SecretSync', () => {
  test('costs the API server a Secret and one status patch, and leaves no Event', async () => {
    const [sync, other] = [await make(), await make()];
    // The controller knows the grants before; otherwise the SecretSync may be looked at twice.
    await other.create();
    await other.waitForValues(alpha);
    const log = new AuditLog({ path: cluster.auditLog ?? '', client: stack.kube });
    const mark = await log.mark();
    await sync.create();
    await sync.waitForValues(alpha);
    await stack.passWitness(other.site.namespace);
    const entries = (await log.since(mark)).filter(({ user }) => user.username === stack.controllerUser);
    const { namespace } = sync.site;
    const about = entries.filter(({ objectRef }) => objectRef?.namespace === namespace);
    expect(
      about.map(({ verb, objectRef: { resource, subresource, name } = {}, responseStatus }) =>
        [verb, resource, subresource, name, responseStatus?.code].join(' '),
      ),
    ).toEqual(['create secrets  app 201', 'patch secretsyncs status app 200']);
  });

  test('leaves no token in etcd, and no Secret but its own', async () => {
    const sync = await makeSynced();
    const { namespace } = sync.site;
    expect(await tokensInEtcd(namespace)).toEqual([]);
    const { items } = await stack.kube.json<{ items: { metadata: { name: string } }[] }>({
      path: parentOf(sync.site.secretPath()),
    });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['app']);
    // The search finds one that is there.
    await stack.kube.json({
      method: 'POST',
      path: parentOf(sync.site.secretPath()),
      body: { metadata: { name: 'planted' }, stringData: { token: 'kf_svc_planted' } },
    });
    expect(await tokensInEtcd(namespace)).toEqual([`/registry/secrets/${namespace}/planted`]);
  });
});

/** The keys of etcd with a service token in them, but for Secrets of other namespaces and texts about tokens. */
async function tokensInEtcd(namespace: string): Promise<string[]> {
  const found: string[] = [];
  const place = etcdKeys(join(cluster.runFolder, 'etcd.sock'), { kube: stack.kube, namespace, exempt: () => [] });
  for await (const { name, bytes } of place.contents()) {
    const isOthers =
      (name.startsWith('/registry/secrets/') && !name.startsWith(`/registry/secrets/${namespace}/`)) ||
      name.startsWith('/registry/apiextensions.k8s.io/');
    const text = Buffer.from(bytes).toString('latin1');
    if (!isOthers && (text.includes('kf_svc_') || text.includes(btoa('kf_svc')))) found.push(name);
  }
  return found;
}

describe('the keyless token of a namespace', () => {
  test('is listed with its holder and its last use, reads one environment, and has no value that could be replaced', async () => {
    const sync = await makeSynced();
    const { namespace, environment } = sync.site;
    const [token] = await keylessTokensOf(stack.admin, sync.site);
    const kubeSystem = await stack.kube.json({ path: '/api/v1/namespaces/kube-system' });
    const holder = { cluster: kubeSystem.metadata.uid, namespace };
    const shown = { scope: 'environment', permission: 'read', environmentId: environment.id, revokedAt: null };
    expect(token).toMatchObject({ holder, ...shown });
    await waitFor('the last use', async () => (await keylessTokensOf(stack.admin, sync.site))[0]?.lastUsedAt !== null);
    const cli = await cliOfAdmin();
    expect(await cli.output(['token', 'list-service', '-o', environment.ref.organization])).toContain(namespace);
    const rotated = await cli.run([
      'token',
      'rotate-service',
      '-o',
      environment.ref.organization,
      '--id',
      token?.id ?? '',
      '--overlap',
      '0s',
      '--yes',
    ]);
    expect(rotated.code).not.toBe(0);
    expect(rotated.stderr).toContain('has no value');
  });

  test('is shared by the SecretSyncs of the namespace, and not by those of another one', async () => {
    const sync = await makeSynced();
    await sync.syncs.create({ environmentRef: sync.site.environment.ref }, 'second');
    await sync.syncs.waitForReason('second', 'Synced');
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
    expect(await sync.readers()).toHaveLength(1);
  });

  test('is not made for a SecretSync that is suspended', async () => {
    const sync = await make();
    await sync.create({ suspend: true });
    await sync.waitForReason('Suspended');
    await sync.expectStays(async () => expect(await keylessTokensOf(stack.admin, sync.site)).toEqual([]));
    await sync.patch({ suspend: false });
    await sync.waitForValues(alpha);
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
  });
});

async function cliOfAdmin(): Promise<CliRunner> {
  const cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
  return cli;
}

describe('without an AccessGrant', () => {
  test('a SecretSync shows the one it lacks, stalls with one Event, and is ready once that is applied', async () => {
    const sync = await make({ withoutGrant: true });
    await sync.create();
    const message = await sync.waitForReason('AccessDenied');
    const grant = parse(message.slice(message.indexOf('apiVersion:'))) as AccessGrant;
    expect(grant.spec.rules).toMatchObject([{ permission: 'Read', kinds: ['SecretSync'] }]);
    expect(conditionsOf(await sync.syncs.get('app'))).toContain('Reconciling True');
    expect(await warningsOf(sync)).toEqual([]);
    await waitFor('it to stall', async () => conditionsOf(await sync.syncs.get('app')).includes('Stalled True'));
    await waitFor('the Event', async () => (await warningsOf(sync)).length > 0);
    await sync.expectStays(async () => expect(await warningsOf(sync)).toEqual(['AccessDenied']));
    expect(await keylessTokensOf(stack.admin, sync.site)).toEqual([]);
    await stack.kube.json({ method: 'POST', path: '/apis/keyframe.dev/v1alpha1/accessgrants', body: grant });
    await sync.waitForValues(alpha);
  });

  test('that is withdrawn, the Secret stays as it is, and follows again when the grant returns', async () => {
    const sync = await makeSynced();
    await sync.site.withdraw();
    await sync.waitForReason('AccessDenied');
    await sync.site.environment.change({ A: 'meanwhile' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    await sync.site.grant();
    await sync.waitForValues({ A: 'meanwhile' });
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
  });
});

/** The reasons of the warnings about the SecretSync of a site. */
async function warningsOf({ site: { namespace } }: TokenSync): Promise<string[]> {
  const events = (await eventsOf('app')).filter(({ regarding }) => regarding.namespace === namespace);
  return events.flatMap(({ type, reason }) => (type === 'Warning' ? [reason] : []));
}

describe('the audit', () => {
  const outcomes = (reads: readonly AuditedRead[]): string[] => reads.map(({ outcome }) => outcome);

  test('has one row for each read, as the token, with SecretSync, uid and source', async () => {
    const sync = await makeSynced();
    const { environment, namespace } = sync.site;
    const [token] = await keylessTokensOf(stack.admin, sync.site);
    const { organization, project, name } = environment.ref;
    const { uid } = (await sync.syncs.get('app')).metadata;
    const target = { organization, project, environment: name, secretSync: `${namespace}/app`, secretSyncUid: uid };
    const actor = { type: 'service_token', id: token?.id, name: token?.name };
    const row = { actor, outcome: 'success', label: '[Service Token]', credential: null };
    expect(await auditedReads(stack.admin, environment)).toMatchObject([{ ...row, target }]);
    await sync.patch({ environmentRef: null, sources: [{ name: 'own', environmentRef: environment.ref }] });
    await sync.waitForReason('Synced');
    await environment.change({ A: 'next' });
    await sync.waitForValues({ A: 'next' });
    const reads = await auditedReads(stack.admin, environment);
    expect(reads).toMatchObject([row, row, row]);
    expect(reads.map((read) => read.target['source'])).toEqual(['own', 'own', undefined]);
  });

  test('has one denial for each change of the grant or the spec, however often the SecretSync is tried', async () => {
    const sync = await makeSynced();
    const { environment } = sync.site;
    await sync.site.withdraw();
    await sync.waitForReason('AccessDenied');
    for (let times = 0; times < 3; times += 1) await sync.expectStays(() => undefined);
    const { uid } = (await sync.syncs.get('app')).metadata;
    const denials = async (): Promise<string[]> => outcomes(await refusedReads(stack.admin, uid));
    expect(await denials()).toEqual(['denied']);
    await sync.patch({ environmentRef: { name: 'another' } });
    await sync.waitForReason('AccessDenied');
    await waitFor('the denial of the new spec', async () => (await denials()).length === 2);
    await sync.expectStays(async () => expect(await denials()).toEqual(['denied', 'denied']));
    expect(outcomes(await auditedReads(stack.admin, environment))).toEqual(['success']);
  });
});
