import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import { waitForPass } from '../support/cluster/crash-trials.ts';
import { PostgresProxy } from '../support/faults/postgres-proxy.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { RestoreSite } from '../support/cluster/restore-site.ts';
import { RestoreTrial } from '../support/cluster/restore-trial.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const grantsPath = '/apis/keyframe.dev/v1alpha1/accessgrants';
let stack: Stack;
let database: PostgresProxy;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 7 });
  database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  await stack.startController({ databaseUrl: database.url });
});

afterAll(() => resources.disposeAsync());

async function makeSite(options: { granted?: boolean } = {}): Promise<RestoreSite> {
  const site = await RestoreSite.make(stack, options);
  resources.defer(() => site.withdraw());
  return site;
}

describe('a SnapshotRestore of a SecretSnapshot', () => {
  test('waits for it, and restores what that took', async () => {
    const site = await makeSite();
    const name = await site.restores.create({ snapshotRef: { name: 'good' } });
    const waiting = await site.restores.waitForReason(name, 'SnapshotNotFound');
    expect(conditionsOf(waiting)).toContain('Planned False');
    await site.snapshots.create({ source: { environmentRef: site.environment.ref }, suspend: true }, 'good');
    await site.restores.waitForReason(name, 'SnapshotNotReady');
    await site.snapshots.patch('good', { spec: { suspend: false } });
    const { status } = await site.snapshots.waitForReason('good', 'Taken');
    await site.environment.change({ A: 'changed' });
    const planHash = await waitFor('the plan of that', async () => {
      const planned = await site.restores.waitForReason(name, 'Planned');
      return planned.status?.plan?.revision === 2 && planned.status.planHash;
    });
    await site.approve(name, planHash);
    const restored = await site.restores.waitForReason(name, 'Complete');
    expect(restored.status?.snapshotId).toBe(status?.snapshotId);
    expect(await site.values()).toEqual({ A: 'alpha' });
  });

  test('whose snapshot or environment is deleted has no plan to approve any more', async () => {
    const site = await makeSite();
    for (const snapshot of ['first', 'second']) {
      await site.snapshots.create({ source: { environmentRef: site.environment.ref } }, snapshot);
      await site.snapshots.waitForReason(snapshot, 'Taken');
      await site.restores.create({ snapshotRef: { name: snapshot } }, `of-${snapshot}`);
    }
    const planHash = await site.planned('of-second');
    await site.planned('of-first');
    const { status } = await site.snapshots.get('first');
    await stack.admin.call('DELETE', `${site.apiPath}/${status?.snapshotId}`);
    const gone = await site.restores.waitForReason('of-first', 'SnapshotGone');
    expect(gone.status).not.toHaveProperty('planHash');
    expect(conditionsOf(gone)).toContain('Planned False');
    const { organization, project, name } = site.environment.ref;
    await stack.admin.call('DELETE', `/environments/${organization}/${project}/${name}`);
    await site.restores.waitForReason('of-second', 'EnvironmentDeleted');
    await site.approve('of-second', planHash);
    const failed = await site.restores.waitForReason('of-second', 'EnvironmentDeleted');
    expect(failed.status).not.toHaveProperty('plan');
    expect(conditionsOf(failed)).toEqual([
      'Ready False',
      'Reconciling False',
      'Stalled True',
      'Planned False',
      'Complete False',
      'Failed True',
    ]);
  });
});

test('a SnapshotRestore whose snapshot a retention over the API deletes has no plan to approve any more', async () => {
  const site = await makeSite();
  const snapshotId = await site.drift();
  await site.restores.create({ snapshotId }, 'back');
  await site.planned('back');
  await site.snapshot();
  await stack.admin.call('POST', `${site.apiPath}/prune`, { retention: { keepLast: 1 } });
  const gone = await site.restores.waitForReason('back', 'NotFound');
  expect(gone.status).not.toHaveProperty('planHash');
  expect(conditionsOf(gone)).toContain('Planned False');
});

describe('a SnapshotRestore without a grant', () => {
  test('of a SecretSnapshot shows the one it needs, which can be applied as it is', async () => {
    const site = await makeSite({ granted: false });
    await site.grant();
    await site.snapshots.create({ source: { environmentRef: site.environment.ref } }, 'good');
    await site.snapshots.waitForReason('good', 'Taken');
    await site.restores.create({ snapshotRef: { name: 'good' } }, 'back');
    await site.planned('back');
    await site.withdraw();
    const refused = await site.restores.waitForReason('back', 'AccessDenied');
    expect(refused.status).not.toHaveProperty('plan');
    const message = readyOf(refused)?.message ?? '';
    const shown = parse(message.slice(message.indexOf('apiVersion:'))) as AccessGrant;
    expect(shown.spec.rules).toMatchObject([{ permission: 'ReadWrite', kinds: ['SnapshotRestore'] }]);
    await stack.kube.json({ method: 'POST', path: grantsPath, body: shown });
    resources.defer(async () => {
      await stack.kube.find({ method: 'DELETE', path: `${grantsPath}/${shown.metadata.name}` });
    });
    await site.planned('back');
  });

  test('learns nothing of a snapshot whose id it names', async () => {
    const site = await makeSite({ granted: false });
    const name = await site.restores.create({ snapshotId: await site.drift() });
    const refused = await site.restores.waitForReason(name, 'NotFound');
    expect(readyOf(refused)?.message).toContain('or no AccessGrant for SnapshotRestore');
    expect(JSON.stringify(refused.status)).not.toContain(site.environment.ref.organization);
    await site.grant();
    await site.planned(name);
  });
});

test('of two controllers that both lead, one carries each restore out', async () => {
  // Its Lease is another one, so nothing but the database keeps the two apart.
  const second = await stack.startController({ name: 'second', env: { NAMESPACE: stack.namespaces[1] ?? '' } });
  const site = await makeSite();
  for (let round = 0; round < 5; round += 1) {
    const trial = await RestoreTrial.prepare(stack, site);
    const isPlanned = round % 2 === 0;
    await (isPlanned ? trial.create() : trial.createUnplanned());
    if (isPlanned) {
      await waitForPass(() => trial.expectPlanned());
      await trial.approve();
    }
    await waitForPass(() => trial.expectComplete());
    await trial.proveOne();
  }
  await second.stop();
});

test('a restore that is approved while the database is away is done once when it is back', async () => {
  const site = await makeSite();
  const name = await site.restores.create({ snapshotId: await site.drift() });
  const planHash = await site.planned(name);
  database.refuse();
  database.kill();
  await site.approve(name, planHash);
  const waiting = await site.restores.waitForReason(name, 'StoreUnavailable');
  // What is tried again by itself lets the plan stand.
  expect(waiting.status?.planHash).toBe(planHash);
  await database.accept();
  await site.restores.waitForReason(name, 'Complete');
  expect(await site.revision()).toBe(4);
});
