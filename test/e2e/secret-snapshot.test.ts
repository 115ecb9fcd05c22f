/** @default A SecretSnapshot takes one snapshot under a grant, shows the grant that it lacks, and deletes what it took. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { ScheduleSite } from '../support/cluster/schedule-site.ts';
import { Stack } from '../support/cluster/stack.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

const source = ({ environment }: ScheduleSite): object => ({ source: { environmentRef: environment.ref } });

describe('a SecretSnapshot', () => {
  test('takes one snapshot under a grant, which the API shows as well, and never another', async () => {
    const site = await ScheduleSite.make(stack);
    await site.grant(['SecretSnapshot']);
    const name = await site.snapshots.create({ ...source(site), name: 'before the deploy' });
    const snapshot = await site.snapshots.waitForReason(name, 'Taken');
    expect(conditionsOf(snapshot)).toEqual(['Ready True', 'Reconciling False', 'Stalled False']);
    const { organization, project, name: slug } = site.environment.ref;
    expect(snapshot.status).toMatchObject({
      environmentId: site.environment.id,
      environment: `${organization}/${project}/${slug}`,
      revision: 1,
      secretCount: 2,
    });
    expect(snapshot.status?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(snapshot.metadata.finalizers).toBeUndefined();
    expect(await site.listed()).toMatchObject([
      {
        id: snapshot.status?.snapshotId,
        name: 'before the deploy',
        createdByType: 'resource',
        createdByName: `SecretSnapshot ${site.namespace}/${name}`,
        secretCount: 2,
      },
    ]);
    await site.environment.change({ C: 'c' });
    await site.snapshots.requestReconcile(name);
    await site.snapshots.create(source(site), 'another');
    await site.snapshots.waitForReason('another', 'Taken');
    // A resource that sets no name gives its own to its snapshot.
    expect((await site.listed()).map((each) => each.name)).toEqual(['another', 'before the deploy']);
    expect((await site.snapshots.get(name)).status).toMatchObject({ revision: 1, secretCount: 2 });
  });

  test('without a grant shows the one it needs, which can be applied as it is', async () => {
    const site = await ScheduleSite.make(stack);
    const name = await site.snapshots.create(source(site));
    const refused = await site.snapshots.waitForReason(name, 'AccessDenied');
    const message = readyOf(refused)?.message ?? '';
    expect(readyOf(refused)).toMatchObject({ status: 'False' });
    const shown = parse(message.slice(message.indexOf('apiVersion:'))) as AccessGrant;
    const path = '/apis/keyframe.dev/v1alpha1/accessgrants';
    await stack.kube.json({ method: 'POST', path, body: shown });
    await site.snapshots.waitForReason(name, 'Taken');
    await site.withdraw(shown.metadata.name);
    expect(await site.listed()).toHaveLength(1);
  });

  test('with the policy Delete takes its snapshot with it, without any grant, and no other', async () => {
    const site = await ScheduleSite.make(stack);
    const granted = await site.grant(['SecretSnapshot']);
    const kept = await site.snapshots.create(source(site));
    const name = await site.snapshots.create({ ...source(site), deletionPolicy: 'Delete' });
    await site.snapshots.waitForReason(kept, 'Taken');
    const { metadata } = await site.snapshots.waitForReason(name, 'Taken');
    expect(metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    await site.withdraw(granted);
    for (const each of [name, kept]) {
      await site.snapshots.delete(each);
      await site.snapshots.waitUntilGone(each);
    }
    expect(await site.listed()).toMatchObject([{ createdByName: `SecretSnapshot ${site.namespace}/${kept}` }]);
  });
});
