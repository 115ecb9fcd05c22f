import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { type RevertCalls, revertCalls } from '../../support/api/revert-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

const of = (): RevertCalls => revertCalls(services, world, world.developer.caller);
const revert: RevertCalls['revert'] = (...args) => of().revert(...args);
const plan: RevertCalls['plan'] = (...args) => of().plan(...args);

withWorlds((given) => ({ services, world, calls } = given));

async function destroy(key: string, version: number): Promise<void> {
  const access = await world.onEnvironment(world.owner.caller, 'version.destroy');
  await services.destructions.destroy(access, key, { version, sameValue: false });
}

async function valuesNow(): Promise<Record<string, string>> {
  const { secrets } = await calls.read();
  return Object.fromEntries(Object.entries(secrets).map(([key, [value]]) => [key, value]));
}

const noList = { restored: [], recreated: [], deleted: [], unchanged: [], destroyed: [], conflicts: [] };
const refused = (...conflicts: string[]): object => ({
  code: 'revert_conflict',
  fields: conflicts.map((key) => expect.objectContaining({ field: key })),
});

describe('a revert', () => {
  test('returns every key that the revision touched to its state before, in one revision, and no other key', async () => {
    await calls.patch({ CHANGED: 'a', GONE: 'a', OTHER: 'a' });
    const second = await calls.patch({ CHANGED: 'b', NEW: 'b' }, ['GONE']);
    await calls.put('OTHER', 'c');
    const done = await revert(2, { comment: 'wrong file' });
    expect(done).toEqual({
      ...noList,
      reverted: { revision: 2, revisionId: second.revisionId },
      restored: ['CHANGED'],
      recreated: ['GONE'],
      deleted: ['NEW'],
      revision: 4,
      revisionId: expect.any(String),
    });
    expect(await calls.read()).toEqual({
      revision: 4,
      revisionId: done.revisionId,
      secrets: { CHANGED: ['a', 3], GONE: ['a', 2], OTHER: ['c', 2] },
    });
    for (const key of ['CHANGED', 'GONE']) {
      const [newest] = await calls.history(key);
      expect(newest).toMatchObject({ changeType: 'rolled_back', comment: 'wrong file', changedBy: world.developer.id });
    }
    const changes = await prismaOf(services.database).secretChange.count({ where: { revisionId: done.revisionId } });
    expect(changes).toBe(3);
  });

  test('names a revision by its number or its id, and can be reverted itself', async () => {
    const { revisionId } = await calls.put('KEY', 'a');
    await calls.put('KEY', 'b');
    expect(await revert(2)).toMatchObject({ restored: ['KEY'] });
    expect(await valuesNow()).toEqual({ KEY: 'a' });
    expect(await revert(3)).toMatchObject({ restored: ['KEY'], revision: 4 });
    expect(await valuesNow()).toEqual({ KEY: 'b' });
    expect(await revert(revisionId, { overwrite: true })).toMatchObject({ deleted: ['KEY'] });
    expect(await valuesNow()).toEqual({});
    const [newest] = await prismaOf(services.database).environmentRevision.findMany({
      where: { environmentId: world.environment.id },
      orderBy: { number: 'desc' },
    });
    expect(newest?.comment).toBe('reverted revision 1');
  });

  test('with nothing to change makes no revision', async () => {
    await calls.put('KEY', 'a');
    const { revision, revisionId } = await calls.patch({ KEY: 'a' });
    expect(await revert(2)).toMatchObject({ ...noList, unchanged: ['KEY'], revision, revisionId });
    expect(await calls.read()).toMatchObject({ revision: 2 });
  });

  test('is refused for a key that was changed again, deleted or created again since, unless it overwrites', async () => {
    await calls.patch({ A: 'a', B: 'a', C: 'a', D: 'a' });
    await calls.patch({ A: 'b', B: 'b', D: 'b' }, ['C']);
    await calls.patch({ A: 'c', C: 'c' }, ['B']);
    await calls.put('D', 'a');
    const before = await calls.read();
    await expect(revert(2)).rejects.toMatchObject(refused('A', 'B', 'C'));
    expect(await calls.read()).toEqual(before);
    const conflicts = ['A', 'B', 'C'].map((key) => ({ key, reason: 'changed' }));
    expect(await plan(2)).toMatchObject({ restored: ['A', 'C'], recreated: ['B'], unchanged: ['D'], conflicts });
    expect(await revert(2, { overwrite: true })).toMatchObject({ restored: ['A', 'C'], recreated: ['B'], conflicts });
    expect(await valuesNow()).toEqual({ A: 'a', B: 'a', C: 'a', D: 'a' });
  });

  test('compares values and not versions: a key that was changed and changed back is not in conflict', async () => {
    await calls.put('KEY', 'a');
    await calls.put('KEY', 'b');
    await calls.put('KEY', 'c');
    await calls.put('KEY', 'b');
    expect(await revert(2)).toMatchObject({ restored: ['KEY'], conflicts: [] });
    expect(await valuesNow()).toEqual({ KEY: 'a' });
  });

  test('never restores a destroyed value: it is refused, and with overwrite leaves the key and names it', async () => {
    await calls.patch({ LEAKED: 'a', OTHER: 'a' });
    await calls.patch({ LEAKED: 'b', OTHER: 'b' });
    await destroy('LEAKED', 1);
    await expect(revert(2)).rejects.toMatchObject(refused('LEAKED'));
    const { planHash, ...planned } = await plan(2, { overwrite: true });
    expect(planned).toMatchObject({
      restored: ['OTHER'],
      destroyed: ['LEAKED'],
      conflicts: [{ key: 'LEAKED', reason: 'destroyed' }],
    });
    const done = await revert(2, { overwrite: true, planHash });
    expect({ ...done, revision: 0, revisionId: '' }).toEqual({ ...planned, revision: 0, revisionId: '' });
    expect(await valuesNow()).toEqual({ LEAKED: 'b', OTHER: 'a' });
    await calls.patch({}, ['LEAKED']);
    await destroy('LEAKED', 2);
    const conflicts = [{ key: 'LEAKED', reason: 'destroyed' }];
    const nothing = { ...noList, destroyed: ['LEAKED'], conflicts, revision: 4 };
    expect(await revert(4, { overwrite: true })).toMatchObject(nothing);
    expect(await valuesNow()).toEqual({ OTHER: 'a' });
  });

  test('is refused if what the revision left was destroyed, and with overwrite restores what was before', async () => {
    await calls.put('KEY', 'a');
    await calls.put('KEY', 'leaked');
    await calls.put('KEY', 'c');
    await destroy('KEY', 2);
    await expect(revert(2)).rejects.toMatchObject(refused('KEY'));
    expect(await revert(2, { overwrite: true })).toMatchObject({ restored: ['KEY'], destroyed: [] });
    expect(await valuesNow()).toEqual({ KEY: 'a' });
  });

  test('of an unknown revision, of revision 0 and of another environment is not found', async () => {
    await expect(revert(0)).rejects.toMatchObject({ code: 'not_found' });
    await calls.put('KEY', 'a');
    const { revisionId } = await calls.read();
    for (const unknown of [0, 2, 2_000_000_000, randomUUID()]) {
      await expect(revert(unknown)).rejects.toMatchObject({ code: 'not_found' });
    }
    const other = await createWorld(services);
    const access = await other.onEnvironment(other.developer.caller, 'change.revert');
    await expect(services.reverts.revert(access, { reverted: revisionId })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('checks its input again', async () => {
    for (const bad of [{ expectedRevision: 'x' }, { planHash: 'x' }, { comment: 'a\nb' }]) {
      await expect(revert(1, bad)).rejects.toMatchObject({ code: 'invalid_input' });
    }
    await expect(revert('X')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(revert(-1)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('a revert is done as planned', () => {
  test('or not at all: a plan of another state, revision or option is outdated', async () => {
    await calls.put('KEY', 'a');
    await calls.put('KEY', 'b');
    const { planHash, revisionId, ...planned } = await plan(2);
    expect(await valuesNow()).toEqual({ KEY: 'b' });
    for (const attempt of [() => revert(1, { planHash }), () => revert(2, { planHash, overwrite: true })]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'plan_outdated' });
    }
    await calls.put('OTHER', 'x');
    await expect(revert(2, { planHash })).rejects.toMatchObject({ code: 'plan_outdated' });
    await expect(revert(2, { expectedRevision: revisionId })).rejects.toMatchObject({ code: 'version_mismatch' });
    const fresh = await plan(2);
    expect(await revert(2, { planHash: fresh.planHash, expectedRevision: fresh.revisionId })).toMatchObject({
      ...planned,
      revision: 4,
    });
  });

  test('of one plan at once, one is done', async () => {
    await calls.put('KEY', 'a');
    await calls.put('KEY', 'b');
    const { planHash } = await plan(2);
    const results = await Promise.allSettled([revert(2, { planHash }), revert(2, { planHash })]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'plan_outdated' } });
    expect(await calls.read()).toMatchObject({ revision: 3, secrets: { KEY: ['a', 3] } });
  });
});

test('among writers a revert is whole: its keys are as before, or it is refused', async () => {
  const keys = ['A', 'B', 'C'];
  const all = (value: string): Record<string, string> => Object.fromEntries(keys.map((key) => [key, value]));
  await calls.patch(all('before'));
  const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
  const valuesAt = async (revision: number): Promise<string> => {
    const { secrets } = await services.secrets.list(access, { revision });
    return secrets.map(({ value }) => value.reveal()).join(' ');
  };
  const outcomes: string[] = [];
  for (let round = 0; round < 12; round += 1) {
    const { revision } = await calls.patch(all('bad'));
    const [reverted, late] = await Promise.allSettled([revert(revision), calls.put('B', 'late')]);
    expect(late.status).toBe('fulfilled');
    outcomes.push(
      reverted.status === 'fulfilled'
        ? await valuesAt(reverted.value.revision)
        : ((reverted.reason as { code?: string }).code ?? ''),
    );
    await calls.patch(all('before'));
  }
  expect(outcomes.filter((outcome) => !['before before before', 'revert_conflict'].includes(outcome))).toEqual([]);
});

test('an Idempotency-Key makes a revert once, and its repetition reports what was done', async () => {
  await calls.put('KEY', 'a');
  await calls.put('KEY', 'b');
  const idempotency = { key: randomUUID(), requestHash: Buffer.alloc(32, 1) };
  const done = await revert(2, { idempotency });
  await calls.put('KEY', 'c');
  expect(await revert(2, { idempotency })).toEqual({ ...done, replayed: true });
  expect(await calls.read()).toMatchObject({ revision: 4, secrets: { KEY: ['c', 4] } });
  await expect(revert(1, { idempotency: { ...idempotency, requestHash: Buffer.alloc(32, 2) } })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
});

test('a key that comes back counts for the limits of its environment', async () => {
  await calls.put('GONE', 'x');
  await calls.remove('GONE');
  const full = Array.from({ length: limits.secretsPerEnvironment }, (_, index) => [`KEY_${index}`, ''] as const);
  await calls.patch(Object.fromEntries(full));
  for (const attempt of [plan, revert]) {
    await expect(attempt(2)).rejects.toMatchObject({ code: 'quota_exceeded' });
  }
  await calls.remove('KEY_0');
  expect(await revert(2)).toMatchObject({ recreated: ['GONE'] });
});

describe('the audit of a revert', () => {
  const chain = (): object => ({ organizationId: world.organization.id, action: 'change.revert' });

  async function audited(): Promise<unknown[]> {
    return prismaOf(services.database).auditEntry.findMany({ where: chain(), orderBy: { id: 'asc' } });
  }

  test('has the plan, what was done with its keys, and a refusal', async () => {
    await calls.patch({ A: 'secret-a', B: 'secret-b' });
    await calls.patch({ A: 'secret-c' }, ['B']);
    await plan(2);
    const { revisionId } = await revert(2);
    await calls.put('A', 'secret-d');
    await expect(revert(2)).rejects.toMatchObject({ code: 'revert_conflict' });
    const reverted = { revertedRevision: 2, restored: 1, recreated: 1, deleted: 0, conflicts: 0 };
    const entries = await audited();
    expect(entries).toMatchObject([
      { outcome: 'success', target: { ...reverted, dryRun: true } },
      {
        outcome: 'success',
        target: { ...reverted, restoredKeys: ['A', 'B'], deletedKeys: [], revision: 3, revisionId },
      },
      { outcome: 'failed', target: { reverted: 2, error: 'revert_conflict' } },
    ]);
    const text = JSON.stringify(entries, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain('secret-');
  });

  test.each(['viewer', 'stranger'] as const)('has a denial of a %s', async (who) => {
    await calls.put('KEY', 'a');
    await expect(world.onEnvironment(world[who].caller, 'change.revert')).rejects.toMatchObject({
      code: who === 'viewer' ? 'forbidden' : 'not_found',
    });
    const denied = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'change.revert', actorId: world[who].id },
    });
    expect(denied).toMatchObject([{ outcome: 'denied' }]);
  });
});
