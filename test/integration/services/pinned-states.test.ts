import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { ResourceCaller } from '../../../src/domain/principal.ts';
import type { ClaimedSnapshot } from '../../../src/domain/resources/snapshots.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceSnapshotCalls, snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let resource: ResourceCaller;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(() => {
  resource = snapshotResource();
});

/** A SecretSnapshot whose namespace is granted the world's environment. */
function snapshotResource(): ResourceCaller {
  return resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)], name: 'good' });
}

async function takenBy(caller: ResourceCaller): Promise<ClaimedSnapshot> {
  return await resourceSnapshotCalls(services, world, caller).taken();
}

describe('the state that a snapshot stands for', () => {
  /** What the snapshot itself names, by key. */
  async function entriesOf(snapshotId: string): Promise<unknown[]> {
    return prismaOf(services.database).$queryRaw`
      SELECT s.key, v.version FROM snapshot_entry x
      JOIN secret s ON s.id = x.secret_id JOIN secret_version v ON v.id = x.version_id
      WHERE x.snapshot_id = ${snapshotId}::uuid ORDER BY s.key COLLATE "C"`;
  }

  test('is its revision to each reader of that, whatever is changed, deleted, made again and restored after it', async () => {
    await calls.patch({ A: '1', B: '1', C: '1' });
    await calls.patch({ B: '2' }, ['C']);
    const { id, revisionId, secretCount } = await takenBy(resource);
    const before = await calls.read();
    await calls.patch({ C: '3', D: '3' }, ['A', 'B']);
    const later = await takenBy(snapshotResource());
    await calls.patch({ A: '4', C: '4' }, ['D']);
    await snapshotCalls(services, world, world.developer.caller).restore(later.id, { prune: true });
    const token = await world.serviceToken({ permission: 'read' });
    const access = await world.onEnvironment(token.caller, 'secret.list');
    const state = await services.secrets.list(access, { revision: revisionId ?? '' });
    expect(state.secrets.map(({ key, version }) => ({ key, version }))).toEqual(await entriesOf(id));
    const values = state.secrets.map(({ key, value, version }) => [key, [value.reveal(), version]]);
    expect(Object.fromEntries(values)).toEqual(before.secrets);
    expect(values).toHaveLength(secretCount);
    expect((await calls.read()).secrets).toMatchObject({ C: ['3', expect.anything()] });
  });

  test('of an environment without any change has no revision to be read at', async () => {
    const { revision, revisionId } = await takenBy(resource);
    expect({ revision, revisionId }).toEqual({ revision: 0, revisionId: null });
  });

  test('is distinguished from one with a destroyed value by a comparison, as is each revision that had it', async () => {
    const before = await calls.put('B', '1');
    const first = await calls.put('A', 'leaked');
    const { id, revisionId } = await takenBy(resource);
    const second = await calls.put('A', 'safe');
    await calls.remove('B');
    const keptIds = [id, before.revisionId, first.revisionId, second.revisionId];
    const kept = async () => (await connectLocally(services)(() => 'test').changes.compare({ keptIds })).kept;
    expect([await kept(), revisionId]).toEqual([new Set(keptIds), first.revisionId]);
    const access = await world.onEnvironment(world.admin.caller, 'version.destroy');
    await services.destructions.destroy(access, 'A', { version: 1 });
    expect(await kept()).toEqual(new Set([before.revisionId, second.revisionId]));
    await services.destructions.destroy(access, 'B', { version: 1 });
    expect(await kept()).toEqual(new Set());
  });

  test('is distinguished from one that is gone by a comparison: the revision stays, the snapshot does not', async () => {
    await calls.put('A', '1');
    const { id, revisionId } = await takenBy(resource);
    await calls.put('A', '2');
    const keptIds = [id, revisionId ?? '', randomUUID()];
    expect((await connectLocally(services)(() => 'test').changes.compare({ keptIds })).kept).toEqual(
      new Set([id, revisionId]),
    );
    await resourceSnapshotCalls(services, world, resource).remove();
    expect((await connectLocally(services)(() => 'test').changes.compare({ keptIds })).kept).toEqual(
      new Set([revisionId]),
    );
    const { caller } = world.owner;
    await services.environments.delete(await world.onEnvironment(caller, 'environment.delete'));
    await services.environments.purge(await services.access.instance(caller, 'environment.purge'), world.slugs);
    expect((await connectLocally(services)(() => 'test').changes.compare({ keptIds })).kept).toEqual(new Set());
  });
});

describe('a former state', () => {
  test('names which of its keys were deleted after it, by whatever way, to a reader who asks', async () => {
    await calls.patch({ A: '1', B: '1', C: '1', D: '1' });
    await calls.patch({}, ['D']);
    const { id } = await takenBy(resource);
    const { revision } = await calls.patch({ D: 'again' });
    await calls.patch({}, ['A']);
    await calls.patch({ A: 'again', E: '1' });
    await calls.put('B', '2');
    // Takes D and E away, which the snapshot has not.
    await snapshotCalls(services, world, world.developer.caller).restore(id, { prune: true });
    const token = await world.serviceToken({ permission: 'read' });
    const access = await world.onEnvironment(token.caller, 'secret.list');
    const at = async (wanted: number, deletedSince = true): Promise<readonly string[] | undefined> => {
      const found = await services.secretReader.find(access, { revision: wanted, deletedSince, maxKeys: 10 });
      return 'keys' in found ? undefined : found.deletedSince;
    };
    expect(await at(revision)).toEqual(['A', 'D']);
    expect(await at(1)).toEqual(['A', 'D']);
    const { revision: newest } = await calls.read();
    expect(await at(newest)).toEqual([]);
    expect(await at(revision, false)).toEqual([]);
  });
});
