import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { fillWriteBudget } from '../support/cluster/resource-rows.ts';
import { ResourceSite, conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let grants: ResourceSite<AccessGrant>;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 9 });
  grants = new ResourceSite<AccessGrant>({ kube: stack.kube, kind: 'AccessGrant', plural: 'accessgrants' });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

interface Site {
  readonly namespace: string;
  readonly environment: ApiEnvironment;
  readonly snapshots: ResourceSite<SecretSnapshot>;
  /** Where its snapshots are over the API. */
  readonly apiPath: string;
}

/** An environment with two secrets, and a namespace that may take snapshots of it. */
async function makeSite({ isGranted = true } = {}): Promise<Site> {
  const namespace = stack.takeNamespace();
  const environment = await stack.admin.makeEnvironment();
  await environment.change({ A: 'a', B: 'b' });
  const { kube } = stack;
  const snapshots = new ResourceSite<SecretSnapshot>({
    kube,
    kind: 'SecretSnapshot',
    plural: 'secretsnapshots',
    namespace,
  });
  const { organization, project, name } = environment.ref;
  const site = { namespace, environment, snapshots, apiPath: `/snapshots/${organization}/${project}/${name}` };
  if (isGranted) await grant(site);
  return site;
}

/** Grants the namespace its environment; answers the grant's name. */
async function grant({ namespace, environment }: Site): Promise<string> {
  const { organization, project, name } = environment.ref;
  const rule = { organization, project, environments: [name], permission: 'ReadWrite', kinds: ['SecretSnapshot'] };
  const granted = await grants.create({ namespaces: [namespace], rules: [rule] });
  resources.defer(async () => void (await stack.kube.find({ method: 'DELETE', path: grants.path(granted) })));
  return granted;
}

interface ApiSnapshot {
  readonly id: string;
  readonly name: string | null;
  readonly createdByType: string;
}

async function listed({ apiPath }: Pick<Site, 'apiPath'>): Promise<readonly ApiSnapshot[]> {
  return (await stack.admin.call<{ snapshots: ApiSnapshot[] }>('GET', apiPath)).snapshots;
}

/** As if the snapshot had been taken so much earlier: the shortest life is a minute, which no test should wait for. */
async function makeOlder(snapshotId: string, seconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: stack.databaseUrl });
  await client.connect();
  try {
    const older = 'UPDATE snapshot SET created_at = created_at - make_interval(secs => $2) WHERE id = $1';
    await client.query(older, [snapshotId, seconds]);
  } finally {
    await client.end();
  }
}

const source = ({ environment }: Site): object => ({ source: { environmentRef: environment.ref } });

describe('a SecretSnapshot', () => {
  test('stays ready when its grant is withdrawn, and the next one is refused until the grant returns', async () => {
    const site = await makeSite({ isGranted: false });
    const granted = await grant(site);
    const first = await site.snapshots.create(source(site));
    await site.snapshots.waitForReason(first, 'Taken');
    await grants.delete(granted);
    const second = await site.snapshots.create(source(site));
    await site.snapshots.waitForReason(second, 'AccessDenied');
    await site.snapshots.requestReconcile(first);
    // One that is made after the request shows that the first one has been reconciled without the grant.
    const third = await site.snapshots.create(source(site));
    await site.snapshots.waitForReason(third, 'AccessDenied');
    expect(conditionsOf(await site.snapshots.get(first))).toContain('Ready True');
    await grant(site);
    await site.snapshots.waitForReason(second, 'Taken');
    await site.snapshots.waitForReason(third, 'Taken');
    expect(conditionsOf(await site.snapshots.get(first))).toContain('Ready True');
  });

  test('waits while the write budget of its environment is full, says so, and goes on by itself', async () => {
    const site = await makeSite();
    await fillWriteBudget(stack.databaseUrl, site.environment.id, 10);
    const name = await site.snapshots.create(source(site));
    const refused = await site.snapshots.waitForReason(name, 'RateLimited');
    expect(conditionsOf(refused)).toEqual(['Ready False', 'Reconciling True', 'Stalled False']);
    expect(readyOf(refused)?.message).toMatch(
      /^This environment has written 512 MiB in a day, which is its limit; try again in \d+ seconds, and write only /,
    );
    expect(await listed(site)).toEqual([]);
    const { status } = await site.snapshots.waitForReason(name, 'Taken', { timeoutMs: 40_000 });
    expect(await listed(site)).toMatchObject([{ id: status?.snapshotId }]);
  });

  test('waits for an environment that is made later', async () => {
    const site = await makeSite({ isGranted: false });
    const { organization, project } = site.environment.ref;
    const rule = { organization, project, environments: ['*'], permission: 'ReadWrite', kinds: ['SecretSnapshot'] };
    await grants.create({ namespaces: [site.namespace], rules: [rule] });
    const name = await site.snapshots.create({
      source: { environmentRef: { ...site.environment.ref, name: 'later' } },
    });
    await site.snapshots.waitForReason(name, 'NotFound');
    await stack.admin.call('POST', `/environments/${organization}/${project}`, { slug: 'later' });
    const { status } = await site.snapshots.waitForReason(name, 'Taken');
    expect(status).toMatchObject({ revision: 0, secretCount: 0 });
  });

  test('adopts a snapshot of an environment that it is granted, and leaves it there when it goes', async () => {
    const site = await makeSite();
    const { id } = await stack.admin.call<ApiSnapshot>('POST', site.apiPath, { name: 'by hand' });
    const name = await site.snapshots.create({ source: { snapshotId: id } });
    const { status } = await site.snapshots.waitForReason(name, 'Adopted');
    expect(status).toMatchObject({ snapshotId: id, environmentId: site.environment.id, secretCount: 2 });
    await site.snapshots.delete(name);
    await site.snapshots.waitUntilGone(name);
    expect(await listed(site)).toMatchObject([{ id, createdByType: 'user' }]);
  });

  test('learns nothing of a snapshot of an environment that it is not granted', async () => {
    const site = await makeSite();
    const foreign = await stack.admin.makeEnvironment();
    const { organization, project, name: slug } = foreign.ref;
    const path = `/snapshots/${organization}/${project}/${slug}`;
    const { id } = await stack.admin.call<ApiSnapshot>('POST', path, {});
    const name = await site.snapshots.create({ source: { snapshotId: id } });
    const refused = await site.snapshots.waitForReason(name, 'NotFound');
    expect(readyOf(refused)?.message).toContain('or no AccessGrant');
    expect(refused.status?.snapshotId).toBeUndefined();
    expect(JSON.stringify(refused.status)).not.toContain(organization);
  });

  test('whose snapshot is deleted over the API says so and takes no other', async () => {
    const site = await makeSite();
    const name = await site.snapshots.create(source(site));
    const { status } = await site.snapshots.waitForReason(name, 'Taken');
    await stack.admin.call('DELETE', `${site.apiPath}/${status?.snapshotId}`);
    const gone = await site.snapshots.waitForReason(name, 'SnapshotGone');
    expect(conditionsOf(gone)).toEqual(['Ready False', 'Reconciling False', 'Stalled True']);
    expect(await listed(site)).toEqual([]);
  });

  test('whose environment is deleted and purged reports both', async () => {
    const site = await makeSite();
    const name = await site.snapshots.create(source(site));
    await site.snapshots.waitForReason(name, 'Taken');
    const { organization, project, name: slug } = site.environment.ref;
    const path = `/environments/${organization}/${project}/${slug}`;
    await stack.admin.call('DELETE', path);
    const deleted = await site.snapshots.waitForReason(name, 'EnvironmentDeleted');
    await stack.admin.call('POST', `${path}/purge`);
    const gone = await site.snapshots.waitForReason(name, 'SnapshotGone');
    // Which one it was is still reported.
    expect(gone.status?.snapshotId).toBe(deleted.status?.snapshotId);
  });

  test('takes nothing while it is suspended', async () => {
    const site = await makeSite();
    const name = await site.snapshots.create({ ...source(site), suspend: true });
    await site.snapshots.waitForReason(name, 'Suspended');
    await site.snapshots.requestReconcile(name);
    const another = await site.snapshots.create(source(site));
    const { status } = await site.snapshots.waitForReason(another, 'Taken');
    expect(await listed(site)).toMatchObject([{ id: status?.snapshotId }]);
    await site.snapshots.patch(name, { spec: { suspend: false } });
    await site.snapshots.waitForReason(name, 'Taken');
  });

  test('deletes itself, and its snapshot, when its time has come', async () => {
    const site = await makeSite();
    const name = await site.snapshots.create({ ...source(site), deletionPolicy: 'Delete', expiresIn: '1m' });
    const { status } = await site.snapshots.waitForReason(name, 'Taken');
    const { takenAt = '', expiresAt = '' } = status ?? {};
    expect(Date.parse(expiresAt) - Date.parse(takenAt)).toBe(60_000);
    await makeOlder(status?.snapshotId ?? '', 57);
    const askedAt = Date.now();
    await site.snapshots.patch(name, { metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
    await site.snapshots.waitUntilGone(name);
    expect(Date.now()).toBeGreaterThanOrEqual(Math.max(askedAt, Date.parse(expiresAt) - 57_000));
    await waitFor('the snapshot to be gone', async () => (await listed(site)).length === 0);
  });
});
