import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject, ObjectMeta } from '../../src/kube/client/objects.ts';
import { Etcd } from '../support/cluster/etcd.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { PostgresProxy } from '../support/faults/postgres-proxy.ts';
import { makeTokenOld, query } from '../support/cluster/resource-rows.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** A token never outlives its AccessGrant or its ServiceToken, whatever users of its namespace do to the latter. */

const resources = new AsyncDisposableStack();
const finalizers = ['keyframe.dev/cleanup'];
const otherFinalizer = 'example.com/hold';
const env = { RESYNC_INTERVAL: '1s' };
let stack: Stack;
let database: PostgresProxy;
let controller: ServerProcess;
let etcd: Etcd;

beforeAll(async () => {
  // Of its own, because a test writes into its etcd.
  const cluster = await startOwnCluster(resources);
  etcd = await Etcd.open(join(cluster.runFolder, 'etcd.sock'));
  resources.defer(() => etcd.close());
  stack = await Stack.start(resources, { namespaces: 15, adminKubeconfig: cluster.kubeconfig });
  database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  controller = await stack.startController({ databaseUrl: database.url, env });
});

afterAll(() => resources.disposeAsync());

/** Starts the controller again; without a list it watches the namespaces of all tests. */
async function restart(watched: readonly string[] = stack.namespaces): Promise<void> {
  await controller.stop();
  const all = { ...env, WATCH_NAMESPACES: watched.join(',') };
  controller = await stack.startController({ databaseUrl: database.url, env: all });
}

async function waitForAnswer(site: TokenSite, token: string, status: number): Promise<void> {
  await waitFor(`the token of ${site.namespace} to be answered ${status}`, async () => {
    expect(await site.answer(token)).toBe(status);
    return true;
  });
}

interface OldToken {
  readonly site: TokenSite;
  readonly token: string;
  /** The ServiceToken's. */
  readonly uid: string;
}

/** A site whose ServiceToken has a token that works and was made more than five minutes ago. */
async function siteWithOldToken(spec: object = {}): Promise<OldToken> {
  const site = await TokenSite.make(stack);
  await site.create(spec);
  const token = await site.waitForSerial(1);
  const { uid } = (await site.resource()).metadata;
  await makeTokenOld(stack.databaseUrl, uid);
  return { site, token, uid };
}

function etcdKeyOf({ site }: OldToken): string {
  return `/registry/keyframe.dev/servicetokens/${site.namespace}/ci`;
}

/** Takes the finalizer off and deletes the ServiceToken at once: nothing of it is undone. */
async function removeUnseen(site: TokenSite): Promise<void> {
  await site.patch({ metadata: { finalizers: null } });
  await site.delete();
  expect(await stack.kube.find({ path: site.tokenPath() })).toBeUndefined();
}

/** Proves that a sweep has ended that began after this call: another token without its ServiceToken is suspended. */
async function waitForSweep(): Promise<void> {
  const { site, token, uid } = await siteWithOldToken();
  // As the token of a ServiceToken that is not in the cluster.
  const sql = 'UPDATE resource_claim SET uid = gen_random_uuid() WHERE uid = $1';
  await query(stack.databaseUrl, sql, [uid]);
  await waitForAnswer(site, token, 401);
  await site.withdraw();
  await site.delete();
}

async function suspendedTotal(): Promise<number> {
  const found = /^keyframe_orphaned_tokens_suspended_total(?:\{[^}]*\})? (\d+)$/gm;
  const counts = [...(await controller.metrics()).matchAll(found)].map(([, count]) => Number(count));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function auditedSuspensions(uid: string): Promise<readonly { readonly cause: string | null }[]> {
  const sql = `SELECT target->>'cause' AS cause FROM audit_entry
    WHERE actor_id = $1 AND action = 'service_token.suspend' AND outcome = 'success' AND label = '[Service Token]'`;
  return await query<{ cause: string | null }>(stack.databaseUrl, sql, [uid]);
}

describe('a token whose ServiceToken is gone is suspended', () => {
  let gone: OldToken;
  let young: OldToken;
  let other: OldToken;
  let back: OldToken;
  let lost: OldToken;
  let held: OldToken;
  let revoked: OldToken;
  let resumed: OldToken;
  /** What etcd had of the ServiceTokens that come back. */
  const stored = new Map<OldToken, Buffer | undefined>();

  /** Restores a ServiceToken with its uid, as a backup of etcd does. */
  async function restore(token: OldToken): Promise<void> {
    const object = stored.get(token);
    if (object === undefined) throw new Error('The ServiceToken was not read before it was deleted.');
    await etcd.put(etcdKeyOf(token), object);
  }

  // All that happens while no controller runs, so that it has to be started again only once.
  beforeAll(async () => {
    gone = await siteWithOldToken({ permission: 'ReadWrite' });
    [young, other] = await Promise.all([siteWithOldToken(), siteWithOldToken()]);
    [back, lost] = await Promise.all([siteWithOldToken(), siteWithOldToken()]);
    held = await siteWithOldToken();
    [revoked, resumed] = await Promise.all([siteWithOldToken(), siteWithOldToken()]);
    await gone.site.patch({ spec: { suspend: true } });
    await gone.site.waitForReason('Suspended');
    await revoked.site.environment.revokeToken((await revoked.site.resource()).status?.tokenId ?? '');
    await revoked.site.waitForReason('Revoked');
    await controller.stop();
    for (const token of [back, lost, revoked]) stored.set(token, await etcd.get(etcdKeyOf(token)));
    // The garbage collector leaves a Secret that nothing owns.
    await back.site.patchSecret({ metadata: { ownerReferences: null } });
    const sinceThen = "UPDATE service_token SET created_at = now() - interval '3 minutes' WHERE created_by_id = $1";
    await query(stack.databaseUrl, sinceThen, [young.uid]);
    await query(stack.databaseUrl, "UPDATE resource_claim SET cluster = 'another' WHERE uid = $1", [other.uid]);
    for (const { site } of [gone, young, other, back, lost, revoked, resumed]) await removeUnseen(site);
    await held.site.patch({ metadata: { finalizers: [otherFinalizer] } });
    await held.site.delete();
    await waitForAnswer(gone.site, gone.token, 200);
    await restart();
  });

  test('after the ServiceToken was suspended, lost its finalizer and was deleted, and says so in audit and metric', async () => {
    const orphans = [gone, back, lost, resumed, held];
    for (const { site, token } of orphans) await waitForAnswer(site, token, 401);
    // The finalizer of another controller still holds this one.
    expect((await held.site.resource()).metadata.deletionTimestamp).toBeDefined();
    await held.site.patch({ metadata: { finalizers: null } });
    expect(await auditedSuspensions(gone.uid)).toEqual([{ cause: 'resource_gone' }]);
    await waitFor('the metric to count each', async () => (await suspendedTotal()) === orphans.length);
    expect(controller.captured.output.toString()).not.toContain(gone.token);
  });

  test('but not while it is so young that it may still be in the making, nor that of another cluster', async () => {
    await waitForSweep();
    expect([await young.site.answer(young.token), await other.site.answer(other.token)]).toEqual([200, 200]);
    await makeTokenOld(stack.databaseUrl, young.uid);
    await waitForAnswer(young.site, young.token, 401);
    expect(await other.site.answer(other.token)).toBe(200);
  });

  test('and goes on with the value of its Secret when the same ServiceToken comes back', async () => {
    const { site, token, uid } = back;
    await waitForAnswer(site, token, 401);
    await restore(back);
    // The Secret gets its owner back after the token went on: from then on nothing changes any more.
    await waitFor('the Secret to be owned again', async () => {
      const secret = await stack.kube.json<{ metadata: ObjectMeta }>({ path: site.secretPath() });
      return secret.metadata.ownerReferences?.some((owner) => owner.uid === uid);
    });
    expect(await site.waitForSerial(1)).toBe(token);
  });

  test('and revokes a value that its Secret has lost before the token goes on', async () => {
    const { site, token, uid } = lost;
    await waitForAnswer(site, token, 401);
    await waitFor('the Secret to be collected', async () => (await site.secret()) === undefined);
    await restore(lost);
    expect(await site.waitForSerial(2)).not.toBe(token);
    expect(await site.answer(token)).toBe(401);
    const sql = `SELECT action FROM audit_entry WHERE actor_id = $1 AND outcome = 'success'
      AND action IN ('service_token.revoke', 'service_token.resume') ORDER BY at, id`;
    const actions = await query<{ action: string }>(stack.databaseUrl, sql, [uid]);
    expect(actions.map(({ action }) => action)).toEqual(['service_token.revoke', 'service_token.resume']);
  });

  test('unless a person has revoked it: then it stays so when the ServiceToken comes back', async () => {
    const { site, token } = revoked;
    await restore(revoked);
    // Another generation, whose reconcile by the new controller the condition proves.
    await site.patch({ spec: { expiresIn: '48h' } });
    await site.waitForReason('Revoked');
    expect(await site.answer(token)).toBe(401);
  });

  test.each([
    ['', []],
    [', even if the finalizer of another controller keeps it', [otherFinalizer]],
  ])('after keyframe.dev/force-finalize let it go while the database was away%s', async (_, others) => {
    const { site, token } = await siteWithOldToken();
    const annotations = { 'keyframe.dev/force-finalize': 'true' };
    await site.patch({ metadata: { annotations, finalizers: [...finalizers, ...others] } });
    database.refuse();
    database.kill();
    await site.delete();
    await waitFor('the ServiceToken to be let go', async () => {
      const left = await stack.kube.find<KubeObject>({ path: site.tokenPath() });
      expect(left?.metadata.finalizers ?? []).toEqual(others);
      return true;
    });
    expect(await site.answer(token)).toBe(200);
    await database.accept();
    await waitForAnswer(site, token, 401);
    if (others.length > 0) await site.patch({ metadata: { finalizers: null } });
  });

  test('once: one that another controller resumed is left alone, and the log says why', async () => {
    const { site, token, uid } = resumed;
    await waitForAnswer(site, token, 401);
    const resume = 'UPDATE service_token SET suspended_at = NULL WHERE created_by_id = $1';
    await query(stack.databaseUrl, resume, [uid]);
    await waitForSweep();
    expect(await site.answer(token)).toBe(200);
    expect(controller.captured.output.toString()).toContain('different values of KEYFRAME_CLUSTER_NAME');
  });
});

describe('a namespace that is not watched any more', () => {
  test('loses its tokens with their grants and with its end, but not for being out of sight', async () => {
    const [granted, withdrawn] = [await siteWithOldToken(), await siteWithOldToken()];
    const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${granted.site.namespace}/rolebindings/controller`;
    await stack.kube.json({ method: 'DELETE', path });
    const hidden = new Set([granted.site.namespace, withdrawn.site.namespace]);
    await restart(stack.namespaces.filter((name) => !hidden.has(name)));
    await withdrawn.site.withdraw();
    await waitForAnswer(withdrawn.site, withdrawn.token, 401);
    expect(await auditedSuspensions(withdrawn.uid)).toEqual([{ cause: 'grant_gone' }]);
    // Nothing proves that its ServiceToken is gone, for the controller may not list it.
    await removeUnseen(granted.site);
    await waitForSweep();
    expect(await granted.site.answer(granted.token)).toBe(200);
    const log = controller.captured.output.toString();
    expect(log).toContain(`may not list the ServiceTokens`);
    expect(log).toContain(granted.site.namespace);
    await granted.site.deleteNamespace();
    await waitForAnswer(granted.site, granted.token, 401);
    await withdrawn.site.grant();
    await restart(stack.namespaces.filter((name) => name !== granted.site.namespace));
    await waitForAnswer(withdrawn.site, withdrawn.token, 200);
  });
});
