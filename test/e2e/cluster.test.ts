import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { controllerUser } from '../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp, type KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import { readAuditLog, sharedAuditLog } from '../support/cluster/audit-log.ts';
import { ClusterCache } from '../support/cluster/cluster-cache.ts';
import {
  adminClient,
  controllerKubeconfig,
  createAccount,
  createNamespace,
  deleteNamespace,
  discardNamespace,
  sharedCluster,
} from '../support/cluster/cluster.ts';
import { secretValues, watchSecret } from '../support/cluster/secret-watch.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const rbac = 'rbac.authorization.k8s.io';
let namespace: string;
let cache: ClusterCache;

beforeAll(async () => {
  namespace = await createNamespace();
  cache = new ClusterCache();
});

afterAll(async () => {
  await discardNamespace(namespace);
  cache.remove();
});

const secretsPath = (): string => `/api/v1/namespaces/${namespace}/secrets`;

function createSecret(name: string, more: { stringData?: object; metadata?: object } = {}): Promise<KubeObject> {
  const { stringData = {}, metadata = {} } = more;
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, name }, stringData };
  return adminClient().json({ method: 'POST', path: secretsPath(), body });
}

/** A client with this token. */
function clientWith(token: string, name: string): KubeHttp {
  const path = join(cache.folder, `${name}.kubeconfig`);
  writeKubeconfigFor(path, sharedCluster().kubeconfig, { name, token });
  return new KubeHttp(path);
}

describe('who may do what', () => {
  test('a ServiceAccount without rights is refused, and served once a Role and its binding allow it', async () => {
    const name = 'reader';
    const client = clientWith(await createAccount(namespace, name), name);
    expect((await client.send({ path: secretsPath() })).status).toBe(403);
    const api = { apiVersion: `${rbac}/v1`, metadata: { name } };
    const path = `/apis/${rbac}/v1/namespaces/${namespace}`;
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }];
    await adminClient().json({ method: 'POST', path: `${path}/roles`, body: { ...api, kind: 'Role', rules } });
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const binding = { ...api, kind: 'RoleBinding', roleRef: { apiGroup: rbac, kind: 'Role', name }, subjects };
    await adminClient().json({ method: 'POST', path: `${path}/rolebindings`, body: binding });
    await waitFor('the right to list', async () => (await client.send({ path: secretsPath() })).status === 200);
    expect((await client.send({ method: 'POST', path: secretsPath(), body: {} })).status).toBe(403);
    client.close();
  });

  test('who shows no token learns nothing but the health of the server', async () => {
    const client = clientWith('', 'unknown');
    expect((await client.send({ path: '/readyz' })).status).toBe(200);
    expect([401, 403]).toContain((await client.send({ path: '/api/v1/namespaces' })).status);
    // Kubernetes by default shows its version to everyone; this cluster does not.
    const allowed = ['assets', 'built'].includes(sharedCluster().how) ? [401] : [200, 401, 403];
    expect(allowed).toContain((await client.send({ path: '/version' })).status);
    client.close();
  });

  test("the controller's kubeconfig speaks as its ServiceAccount, with the chart's rights and no more", async () => {
    const client = new KubeHttp(controllerKubeconfig());
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
    const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const review = await client.json<{ status: { userInfo: object } }>({ method: 'POST', path, body });
    expect(review.status.userInfo).toMatchObject({ username: controllerUser });
    expect((await client.send({ path: '/apis/keyframe.dev/v1alpha1/secretsyncs' })).status).toBe(200);
    expect((await client.send({ path: '/api/v1/configmaps' })).status).toBe(403);
    client.close();
  });

  test('the files with credentials are for their owner alone', () => {
    const { kubeconfig, runFolder } = sharedCluster();
    for (const path of [kubeconfig, controllerKubeconfig()]) expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(runFolder).mode & 0o077).toBe(0);
  });
});

describe('the audit log', () => {
  test('holds each request once, with user, verb and resource, and no value', async () => {
    const name = 'audited';
    const value = `canary-${randomUUID()}`;
    const mark = await sharedAuditLog().mark();
    await createSecret(name, { stringData: { value } });
    const client = clientWith(await createAccount(namespace, name), name);
    await client.send({ path: `${secretsPath()}/${name}` });
    await client.send({ path: `${secretsPath()}/${name}` });
    client.close();
    const entries = await readAuditLog(mark);
    const seen = entries
      .filter(({ objectRef }) => objectRef?.resource === 'secrets' && objectRef.name === name)
      .map(({ user, verb, stage, responseStatus }) => [user.username, verb, stage, responseStatus?.code]);
    const refused = [`system:serviceaccount:${namespace}:${name}`, 'get', 'ResponseComplete', 403];
    expect(seen).toEqual([[expect.any(String), 'create', 'ResponseComplete', 201], refused, refused]);
    const log = readFileSync(sharedCluster().auditLog ?? '', 'utf8');
    expect(log).not.toContain(value);
    expect(log).not.toContain(Buffer.from(value).toString('base64'));
  });

  test('holds nothing from before the mark', async () => {
    await createSecret('before-mark');
    const mark = await sharedAuditLog().mark();
    await createSecret('after-mark');
    const names = (await readAuditLog(mark)).map(({ objectRef }) => objectRef?.name);
    expect(names).toContain('after-mark');
    expect(names).not.toContain('before-mark');
  });
});

describe('the controllers', () => {
  const find = (name: string): Promise<KubeObject | undefined> =>
    adminClient().find({ path: `${secretsPath()}/${name}` });

  test('delete a Secret whose owner, a custom resource, was deleted, and leave one without an owner', async () => {
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
    const spec = {
      environmentRef: { organization: 'acme', project: 'shop', name: 'production' },
      tokenSecretRef: { name: 'token', key: 'token' },
    };
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: 'owner' }, spec };
    const { metadata } = await adminClient().json({ method: 'POST', path, body });
    const owner = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'owner', uid: metadata.uid };
    await createSecret('owned', { metadata: { ownerReferences: [owner] } });
    await createSecret('free');
    await adminClient().json({ method: 'DELETE', path: `${path}/owner` });
    await waitFor('the garbage collector', async () => (await find('owned')) === undefined);
    expect(await find('free')).toBeDefined();
  });

  test('finish the deletion of a namespace', async () => {
    const name = await createNamespace();
    await deleteNamespace(name);
    const path = `/api/v1/namespaces/${name}`;
    const isGone = async (): Promise<boolean> => (await adminClient().find({ path })) === undefined;
    expect(await waitFor('the namespace to be gone', isGone)).toBe(true);
  });
});

describe('a watched Secret', () => {
  test('is seen when it is created, changed and deleted', async () => {
    const name = 'watched';
    const watch = await watchSecret(namespace, name);
    await createSecret(name, { stringData: { key: 'one' } });
    const path = `${secretsPath()}/${name}`;
    const contentType = 'application/merge-patch+json';
    await adminClient().json({ method: 'PATCH', path, contentType, body: { stringData: { key: 'two' } } });
    await watch.next('hold the second value', ({ secret }) => secretValues(secret).get('key') === 'two');
    await adminClient().json({ method: 'DELETE', path });
    await watch.next('be deleted', ({ type }) => type === 'DELETED');
    expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    watch.close();
  });

  test('that never comes gives an error which says what was awaited and seen', async () => {
    await createSecret('still', { stringData: { key: 'value' } });
    const watch = await watchSecret(namespace, 'still');
    const awaited = watch.next('be deleted', ({ type }) => type === 'DELETED', 50);
    await expect(awaited).rejects.toThrow(
      `Waited 50 ms in vain for Secret ${namespace}/still to be deleted; saw ADDED with keys [key]`,
    );
    watch.close();
  });
});
