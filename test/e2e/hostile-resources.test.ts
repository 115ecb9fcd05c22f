import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import type { Resource } from '../../src/controller/frame/resource.ts';
import type { EnvironmentRef } from '../support/api/api-client.ts';
import { createAccount, sharedCluster } from '../support/cluster/cluster.ts';
import { type HostileResource, type HostileTargets, hostileResources } from './hostile-resources.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { ResourceSite, readyOf } from '../support/cluster/resource-site.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';

// A user who may do everything in one namespace, and nothing outside of it, tries to reach what belongs to another user.

const count = 200;
const seed = Number(process.env['KEYFRAME_TEST_SEED'] ?? Date.now() % 2 ** 31);
const canary = 'canary-of-the-victim';

const resources = new AsyncDisposableStack();
let stack: Stack;
let attacker: KubeHttp;
let attackerNamespace: string;
let victimNamespace: string;
let targets: HostileTargets;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  [attackerNamespace, victimNamespace] = [stack.takeNamespace(), stack.takeNamespace()];
  attacker = await makeAttacker();
  targets = await makeWorld();
  await stack.startController();
  await makeNeighbours();
});

afterAll(() => resources.disposeAsync());

const refOf = ({ organization, project, name }: EnvironmentRef): string => `${organization}/${project}/${name}`;
const kinds = {
  ServiceToken: 'servicetokens',
  SecretSnapshot: 'secretsnapshots',
  SnapshotRestore: 'snapshotrestores',
  SecretSync: 'secretsyncs',
  AccessGrant: 'accessgrants',
  SecretEnvironment: 'secretenvironments',
} as const;

function siteOf(kind: keyof typeof kinds, namespace: string, kube = stack.kube): ResourceSite<Resource> {
  const isNamespaced = kind !== 'AccessGrant' && kind !== 'SecretEnvironment';
  return new ResourceSite<Resource>({ kube, kind, plural: kinds[kind], ...(isNamespaced ? { namespace } : {}) });
}

/** Someone with all rights in the attacker's namespace. */
async function makeAttacker(): Promise<KubeHttp> {
  const name = 'attacker';
  const token = await createAccount(attackerNamespace, name, stack.kube);
  const group = 'rbac.authorization.k8s.io';
  const path = `/apis/${group}/v1/namespaces/${attackerNamespace}/rolebindings`;
  const roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ kind: 'ServiceAccount', name, namespace: attackerNamespace }];
  const binding = { apiVersion: `${group}/v1`, kind: 'RoleBinding', metadata: { name }, roleRef, subjects };
  await stack.kube.json({ method: 'POST', path, body: binding });
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-attacker-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'kubeconfig');
  writeKubeconfigFor(file, sharedCluster().kubeconfig, { name, token });
  const client = new KubeHttp(file);
  resources.defer(() => client.close());
  return client;
}

/** The environments, each with a value, their snapshots, and the grants of both namespaces. */
async function makeWorld(): Promise<HostileTargets> {
  const own = (await stack.admin.makeEnvironment()).ref;
  const stage = await sibling(own, 'stage');
  const victims = [await sibling(own, 'prod'), (await stack.admin.makeEnvironment()).ref];
  const [prod, foreign] = victims as [EnvironmentRef, EnvironmentRef];
  victims.push(await sibling(foreign, 'second'));
  for (const ref of [own, stage]) await write(ref, 'A', 'alpha');
  for (const ref of victims) await write(ref, 'A', `${canary} ${refOf(ref)}`);
  const kindsOf = (...granted: string[]): object => ({ kinds: granted });
  const rule = (ref: EnvironmentRef, permission: string, more: object): object => {
    const { organization, project, name } = ref;
    return { organization, project, environments: [name], permission, ...more };
  };
  await grant(attackerNamespace, [
    rule(own, 'Read', kindsOf('ServiceToken')),
    rule(stage, 'ReadWrite', kindsOf('ServiceToken', 'SecretSnapshot', 'SnapshotRestore')),
  ]);
  await grant(victimNamespace, [rule(foreign, 'ReadWrite', kindsOf('ServiceToken', 'SecretSnapshot'))]);
  return {
    read: own,
    written: stage,
    victims,
    ownSnapshot: await snapshotOf(stage),
    victimSnapshots: [await snapshotOf(foreign), await snapshotOf(prod)],
    tokenSecret: 'legitimate',
    takenNames: ['foreign', 'synced', 'planted'],
    victimNames: ['victim', 'victim-synced'],
    victimNamespace,
  };
}

async function sibling(ref: EnvironmentRef, name: string): Promise<EnvironmentRef> {
  await stack.admin.call('POST', `/environments/${ref.organization}/${ref.project}`, { slug: name });
  return { ...ref, name };
}

const write = (ref: EnvironmentRef, key: string, value: string): Promise<unknown> =>
  stack.admin.call('PATCH', `/secrets/${refOf(ref)}`, { set: { [key]: value } });

const snapshotOf = async (ref: EnvironmentRef): Promise<string> =>
  (await stack.admin.call<{ id: string }>('POST', `/snapshots/${refOf(ref)}`, {})).id;

async function grant(namespace: string, rules: readonly object[]): Promise<void> {
  const grants = siteOf('AccessGrant', '');
  const name = await grants.create({ namespaces: [namespace], rules });
  resources.defer(async () => void (await stack.kube.find({ method: 'DELETE', path: grants.path(name) })));
}

/** What is in both namespaces before the attack begins. */
async function makeNeighbours(): Promise<void> {
  const [, foreign] = targets.victims as [EnvironmentRef, EnvironmentRef];
  await makePair(victimNamespace, foreign, { token: 'victim', sync: 'victim-synced' });
  const source = { environmentRef: foreign };
  await siteOf('SecretSnapshot', victimNamespace).create({ source, deletionPolicy: 'Delete' }, 'victim');
  await siteOf('SecretSnapshot', victimNamespace).waitForReason('victim', 'Taken');
  await makePair(attackerNamespace, targets.read, { token: targets.tokenSecret, sync: 'synced' });
  const secrets = `/api/v1/namespaces/${attackerNamespace}/secrets`;
  // One without an owner, and one with the annotations of the victim's.
  const [copied] = (await secretsOf(victimNamespace)).filter(({ metadata: { name } }) => name === 'victim-synced');
  const { labels = {}, annotations = {} } = copied?.metadata ?? {};
  for (const metadata of [{ name: 'foreign' }, { name: 'planted', labels, annotations }]) {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'kf_svc_none', A: 'theirs' } };
    await attacker.json({ method: 'POST', path: secrets, body });
  }
}

/** A ServiceToken for an environment, and a SecretSync that reads with it. */
async function makePair(namespace: string, ref: EnvironmentRef, names: { token: string; sync: string }): Promise<void> {
  await siteOf('ServiceToken', namespace).create({ scope: 'Environment', environmentRef: ref }, names.token);
  await siteOf('ServiceToken', namespace).waitForReason(names.token, 'Issued');
  await siteOf('SecretSync', namespace).create(
    { environmentRef: ref, tokenSecretRef: { name: names.token } },
    names.sync,
  );
  await siteOf('SecretSync', namespace).waitForReason(names.sync, 'Synced');
}

async function secretsOf(namespace: string): Promise<readonly SecretObject[]> {
  return (await stack.kube.json<{ items: SecretObject[] }>({ path: `/api/v1/namespaces/${namespace}/secrets` })).items;
}

/** All that is the victim's, as it is now. */
async function victimsOwn(): Promise<unknown> {
  const custom = await Promise.all(
    (['ServiceToken', 'SecretSnapshot', 'SecretSync'] as const).map((kind) =>
      stack.kube.json<{ items: unknown[] }>({ path: siteOf(kind, victimNamespace).path() }),
    ),
  );
  const read = (path: string, ref: EnvironmentRef): Promise<unknown> =>
    stack.admin.call('GET', `${path}/${refOf(ref)}`);
  const held = targets.victims.map(async (ref) => [await read('/secrets', ref), await read('/snapshots', ref)]);
  return [await secretsOf(victimNamespace), custom.map(({ items }) => items), await Promise.all(held)];
}

interface Attempt extends HostileResource {
  readonly name: string;
  readonly answer: number;
  /** Of the API server, where it refused. */
  readonly refusal: string;
}

async function attempt(hostile: HostileResource, name: string): Promise<Attempt> {
  const { kind, metadata, spec, status } = hostile;
  const path = siteOf(kind, attackerNamespace).path();
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { ...metadata, name }, spec, status };
  const { status: answer, body: response } = await attacker.send({ method: 'POST', path, body });
  if (answer === 201 && status !== undefined) await forge(kind, name, status);
  return { ...hostile, name, answer, refusal: answer < 400 ? '' : String(Object(response).message) };
}

/** Edits a status by hand. */
async function forge(kind: HostileResource['kind'], name: string, status: object): Promise<void> {
  const path = siteOf(kind, attackerNamespace).path(name);
  const contentType = 'application/merge-patch+json';
  const { status: answer } = await attacker.send({
    method: 'PATCH',
    path: `${path}/status`,
    contentType,
    body: { status },
  });
  expect(answer).toBe(200);
}

/** What one attempt came to: `ready`, or why not. */
async function outcomeOf({ kind, name, answer, refusal }: Attempt): Promise<{ isReady: boolean; why: string }> {
  if (answer >= 400) return { isReady: false, why: `${answer} ${refusal}` };
  const resource = await siteOf(kind, attackerNamespace).get(name);
  const ready = readyOf(resource);
  expect(ready?.observedGeneration).toBe(resource.metadata.generation);
  const { status, reason = '', message = '' } = ready ?? {};
  return { isReady: status === 'True', why: `${reason} ${message}` };
}

const what = ({ kind, name, metadata, spec }: Attempt): string =>
  `${kind} ${name} ${JSON.stringify({ metadata, spec })}`;

/** Waits until an attempt has come to what it may have; throws with the resource where it comes to something else. */
async function expectOutcome(each: Attempt): Promise<void> {
  await waitFor(what(each), async () => {
    const { isReady, why } = await outcomeOf(each);
    expect({ isReady, why }).toEqual({ isReady: each.isAllowed, why: expect.stringMatching(/^\S+ \S.{15}/s) });
    expect(why).not.toContain(canary);
    return true;
  });
}

/** What a token opens, of all the environments there are. */
async function openedBy(token: string): Promise<string[]> {
  const client = stack.admin.as(token);
  const all = [targets.read, targets.written, ...targets.victims];
  const answers = await Promise.all(
    all.map(async (ref) => (await client.send('GET', `/secrets/${refOf(ref)}`)).status),
  );
  return all.filter((_ref, index) => answers[index] === 200).map(refOf);
}

describe(`200 hostile resources (KEYFRAME_TEST_SEED=${seed} makes them again)`, () => {
  test('get no more than their namespace is granted, say why, and leave what is the victim’s as it was', async () => {
    const before = await victimsOwn();
    const hostile = hostileResources(targets, { seed, count });
    const attempts: Attempt[] = [];
    for (const [index, each] of hostile.entries()) attempts.push(await attempt(each, `hostile-${index}`));
    // Both happen in every run, or it would show nothing.
    for (const isAllowed of [true, false]) expect(attempts.some((each) => each.isAllowed === isAllowed)).toBe(true);
    for (const each of attempts) await expectOutcome(each);
    // A status that lies is put right, however late it comes.
    for (const { kind, name, answer, status } of attempts)
      if (answer === 201 && status !== undefined) await forge(kind, name, status);
    for (const each of attempts) await expectOutcome(each);
    await expectNoMoreThanGranted(attempts);
    expect(await victimsOwn()).toEqual(before);
    await expectAudited(attempts);
  });
});

async function expectNoMoreThanGranted(attempts: readonly Attempt[]): Promise<void> {
  const secrets = await secretsOf(attackerNamespace);
  expect(secrets.flatMap((secret) => [...secretValues(secret).values()]).join('\n')).not.toContain(canary);
  const expected = new Map(attempts.map(({ name, opens }) => [name, opens === undefined ? [] : [refOf(opens)]]));
  expected.set(targets.tokenSecret, [refOf(targets.read)]);
  for (const secret of nonEmpty(secrets)) {
    const token = secretValues(secret).get('token');
    if (token === undefined) continue;
    const { name } = secret.metadata;
    expect({ name, opens: await openedBy(token) }).toEqual({ name, opens: expected.get(name) ?? [] });
    for (const ref of nonEmpty(targets.victims)) {
      const change = await stack.admin.as(token).send('PATCH', `/secrets/${refOf(ref)}`, { set: { A: 'mine' } });
      expect([401, 403, 404]).toContain(change.status);
      expect(JSON.stringify(change.body)).not.toContain(canary);
    }
  }
}

/** A client that was refused a place is in the audit with it: in the instance's, because a stranger must not fill an organization's. */
async function expectAudited(attempts: readonly Attempt[]): Promise<void> {
  const refused = attempts.filter(({ answer, isAllowed }) => answer === 201 && !isAllowed);
  const tokens = refused.filter(({ kind, spec }) => kind === 'ServiceToken' && !('secretName' in spec));
  const syncs = refused.filter(({ kind, spec }) => kind === 'SecretSync' && !('tokenSecretRef' in spec));
  // Whose Secret is not the reason.
  const ownSyncs = syncs.filter(({ spec }) => !('name' in Object(spec['target'])));
  for (const denied of [tokens, ownSyncs]) expect(denied.length).toBeGreaterThan(0);
  const rows = await query<{ name: string; organization: string | null; chain: string | null }>(
    stack.databaseUrl,
    `SELECT actor_name AS name, target->>'organization' AS organization, organization_id AS chain
     FROM audit_entry WHERE outcome = 'denied' AND actor_type = 'resource'`,
  );
  for (const { kind, name, spec } of [...tokens, ...ownSyncs]) {
    const { organization } = (spec['environmentRef'] ?? spec['projectRef'] ?? spec) as { organization: string };
    expect(rows).toContainEqual({ name: `${kind} ${attackerNamespace}/${name}`, organization, chain: null });
  }
}
