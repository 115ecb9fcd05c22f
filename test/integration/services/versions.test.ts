import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { VersionRecord } from '../../../src/services/secrets/versions.ts';
import { notDestroyed } from '../../../src/store/versions.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

async function list(
  key: string,
  page: { limit?: number; cursor?: string } = {},
): Promise<{ versions: readonly VersionRecord[]; nextCursor: string | null }> {
  return services.versions.list(await world.onEnvironment(world.viewer.caller, 'version.list'), key, page);
}

async function valueAt(key: string, version: number): Promise<string> {
  const access = await world.onEnvironment(world.viewer.caller, 'version.read');
  return (await services.versions.get(access, key, version)).value.reveal();
}

describe('the list of versions', () => {
  test('is newest first, with who, what and why, and without values', async () => {
    await calls.put('KEY', 'one', { comment: 'first' });
    await calls.put('KEY', 'two');
    await calls.rollback('KEY', { targetVersion: 1, comment: 'back' });
    const { versions, nextCursor } = await list('KEY');
    const { id, email } = world.developer;
    const actor = {
      changedBy: id,
      changedByType: 'user',
      changedByName: email,
      changedByCluster: null,
      createdAt: expect.any(Date),
      ...notDestroyed,
    };
    expect(versions).toEqual([
      { version: 3, changeType: 'rolled_back', comment: 'back', ...actor },
      { version: 2, changeType: 'updated', comment: null, ...actor },
      { version: 1, changeType: 'created', comment: 'first', ...actor },
    ]);
    expect(nextCursor).toBeNull();
  });

  test('stays readable after the key was deleted, as do the values', async () => {
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    expect((await list('KEY')).versions.map(({ version }) => version)).toEqual([1]);
    expect(await valueAt('KEY', 1)).toBe('one');
  });

  test('pages by limit and cursor, undisturbed by newer versions', async () => {
    for (const value of ['1', '2', '3', '4', '5']) await calls.put('KEY', value);
    const first = await list('KEY', { limit: 2 });
    await calls.put('KEY', '6');
    const second = await list('KEY', { limit: 2, cursor: first.nextCursor ?? '' });
    const third = await list('KEY', { limit: 2, cursor: second.nextCursor ?? '' });
    const numbers = [first, second, third].map(({ versions }) => versions.map(({ version }) => version));
    expect(numbers).toEqual([[5, 4], [3, 2], [1]]);
    expect(third.nextCursor).toBeNull();
    const rest = await list('KEY', { cursor: first.nextCursor ?? '' });
    expect(rest.versions.map(({ version }) => version)).toEqual([3, 2, 1]);
    expect((await list('KEY', { limit: 6 })).nextCursor).toBeNull();
  });

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 1001 }],
    ['limit', { limit: 1.5 }],
    ['cursor', { cursor: '' }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: Buffer.from('["versions","x"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["versions",3]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["versions","99999999999"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["service-tokens","3"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["versions","3","3"]').toString('base64url') }],
  ])('refuses a bad %s (%#)', async (field, page) => {
    await calls.put('KEY', 'one');
    await expect(list('KEY', page)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('is not_found for a key that was never written, and invalid_input for what is no key', async () => {
    await expect(list('NEVER')).rejects.toMatchObject({ code: 'not_found' });
    await expect(list('no key')).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'key' }] });
  });
});

describe('one version', () => {
  test('is answered with its value and what the list says of it', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    const access = await world.onEnvironment(world.viewer.caller, 'version.read');
    const { value, ...record } = await services.versions.get(access, 'KEY', 1);
    expect(value.reveal()).toBe('one');
    expect(record).toEqual((await list('KEY')).versions[1]);
  });

  test('is not_found for a version or key that never was, and invalid_input for what is no version', async () => {
    await calls.put('KEY', 'one');
    await expect(valueAt('KEY', 2)).rejects.toMatchObject({ code: 'not_found', detail: 'secret KEY has no version 2' });
    await expect(valueAt('NEVER', 1)).rejects.toMatchObject({ code: 'not_found' });
    for (const version of [0, 1.5, 2 ** 31]) {
      await expect(valueAt('KEY', version)).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field: 'version' }],
      });
    }
  });
});

describe('a rollback', () => {
  test('takes the value of just the version that it names, whichever that is', async () => {
    for (const value of ['one', 'two', 'three']) await calls.put('KEY', value);
    for (const [targetVersion, value] of [
      [2, 'two'],
      [3, 'three'],
      [1, 'one'],
      [4, 'two'],
    ] as const) {
      await calls.rollback('KEY', { targetVersion });
      expect(await calls.readOne('KEY')).toBe(value);
    }
  });

  test('makes a new version with the value of the target and answers it', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    const { revision, revisionId, ...version } = await calls.rollback('KEY', { targetVersion: 1, comment: 'back' });
    expect(version).toEqual((await list('KEY')).versions[0]);
    expect(version).toMatchObject({ version: 3, changeType: 'rolled_back', comment: 'back' });
    expect(await calls.read()).toEqual({ revision, revisionId, secrets: { KEY: ['one', 3] } });
    expect(revision).toBe(3);
    expect(await valueAt('KEY', 2)).toBe('two');
  });

  test('refers to the stored bytes of the target, with its data key, MAC and size', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'a longer value');
    await calls.rollback('KEY', { targetVersion: 1 });
    await calls.rollback('KEY', { targetVersion: 3 });
    const rows = await prismaOf(services.database).secretVersion.findMany({
      where: { secret: { environmentId: world.environment.id } },
      orderBy: { version: 'asc' },
      select: { id: true, ciphertext: true, contentId: true, dataKeyId: true, valueMac: true, valueBytes: true },
    });
    const [first, second, ...later] = rows;
    const reference = { ...first, id: expect.any(String), ciphertext: new Uint8Array(), contentId: first?.id };
    // The last one was rolled back to a reference, and refers to the value itself.
    expect(later).toEqual([reference, reference]);
    expect(second?.ciphertext).not.toEqual(first?.ciphertext);
  });

  test('goes to the current version as well, and to an equal value', async () => {
    await calls.put('KEY', 'one');
    expect(await calls.rollback('KEY', { targetVersion: 1 })).toMatchObject({ version: 2, changeType: 'rolled_back' });
  });

  test('of a deleted key restores it with undelete, as a version rolled_back that continues its numbers', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    await calls.remove('KEY');
    const answer = await calls.rollback('KEY', { targetVersion: 1, undelete: true });
    expect(answer).toMatchObject({ version: 3, changeType: 'rolled_back', revision: 4 });
    expect(await calls.read()).toMatchObject({ revision: 4, secrets: { KEY: ['one', 3] } });
    const entries = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'version.rollback', organizationId: world.organization.id },
    });
    expect(entries).toMatchObject([{ target: { key: 'KEY', targetVersion: 1, version: 3, undelete: true } }]);
    // For a key that is not deleted it changes nothing.
    expect(await calls.rollback('KEY', { targetVersion: 2, undelete: true })).toMatchObject({ version: 4 });
  });

  test('with undelete restores neither a key that never existed nor a destroyed value, and counts for the limits', async () => {
    const undelete = true;
    await expect(calls.rollback('NEVER', { targetVersion: 1, undelete })).rejects.toMatchObject({ code: 'not_found' });
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    await expect(calls.rollback('KEY', { targetVersion: 2, undelete })).rejects.toMatchObject({ code: 'not_found' });
    await calls.patch(
      Object.fromEntries(Array.from({ length: limits.secretsPerEnvironment }, (_, index) => [`KEY_${index}`, ''])),
    );
    await expect(calls.rollback('KEY', { targetVersion: 1, undelete })).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    const access = await world.onEnvironment(world.owner.caller, 'version.destroy');
    await services.destructions.destroy(access, 'KEY', { version: 1 });
    await expect(calls.rollback('KEY', { targetVersion: 1, undelete })).rejects.toMatchObject({
      code: 'version_destroyed',
    });
  });

  test('of a deleted key is secret_deleted, and of one created again goes back past the deletion', async () => {
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    await expect(calls.rollback('KEY', { targetVersion: 1 })).rejects.toMatchObject({ code: 'secret_deleted' });
    expect(await calls.read()).toMatchObject({ revision: 2, secrets: {} });
    await calls.put('KEY', 'two');
    await calls.rollback('KEY', { targetVersion: 1 });
    expect(await calls.readOne('KEY')).toBe('one');
  });

  test('to another key with a version of that number takes its own', async () => {
    await calls.patch({ A: 'a1', B: 'b1' });
    await calls.patch({ A: 'a2', B: 'b2' });
    await calls.rollback('B', { targetVersion: 1 });
    expect((await calls.read()).secrets).toEqual({ A: ['a2', 2], B: ['b1', 3] });
  });

  test('with an expected version is made only while the key is at that version', async () => {
    for (const value of ['one', 'two']) await calls.put('KEY', value);
    for (const expectedVersion of [0, 1, 3]) {
      await expect(calls.rollback('KEY', { targetVersion: 1, expectedVersion })).rejects.toMatchObject({
        code: 'version_mismatch',
      });
    }
    expect(await calls.read()).toMatchObject({ revision: 2, secrets: { KEY: ['two', 2] } });
    expect(await calls.rollback('KEY', { targetVersion: 1, expectedVersion: 2 })).toMatchObject({ version: 3 });
  });

  test('of a deleted key with undelete expects version 0', async () => {
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    const restore = { targetVersion: 1, undelete: true };
    await expect(calls.rollback('KEY', { ...restore, expectedVersion: 1 })).rejects.toMatchObject({
      code: 'version_mismatch',
    });
    await expect(calls.rollback('KEY', { targetVersion: 1, expectedVersion: 1 })).rejects.toMatchObject({
      code: 'secret_deleted',
    });
    expect(await calls.rollback('KEY', { ...restore, expectedVersion: 0 })).toMatchObject({ version: 2 });
  });

  test('with an expected revision is made only while the environment is at that revision', async () => {
    const { revisionId: expectedRevision } = await calls.put('KEY', 'one');
    await calls.put('OTHER', 'x');
    await expect(calls.rollback('KEY', { targetVersion: 1, expectedRevision })).rejects.toMatchObject({
      code: 'version_mismatch',
    });
    const { revisionId } = await calls.put('OTHER', 'y');
    expect(await calls.rollback('KEY', { targetVersion: 1, expectedRevision: revisionId })).toMatchObject({
      revision: 4,
    });
  });

  test('at the same time as others that expect the same version is made once', async () => {
    for (const value of ['one', 'two']) await calls.put('KEY', value);
    const input = { targetVersion: 1, expectedVersion: 2 };
    const results = await Promise.allSettled(Array.from({ length: 6 }, () => calls.rollback('KEY', input)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await calls.read()).toMatchObject({ revision: 3 });
  });

  test('is refused, and changes nothing, for what is not there and for faulty input', async () => {
    await calls.put('KEY', 'one');
    const expected: [Parameters<SecretCalls['rollback']>, object][] = [
      [['NEVER', { targetVersion: 1 }], { code: 'not_found' }],
      [['KEY', { targetVersion: 2 }], { code: 'not_found', detail: 'secret KEY has no version 2' }],
      [['KEY', { targetVersion: 0 }], { code: 'invalid_input', fields: [{ field: 'targetVersion' }] }],
      [['KEY', { targetVersion: 2 ** 31 }], { code: 'invalid_input', fields: [{ field: 'targetVersion' }] }],
      [['KEY', { targetVersion: 1, expectedVersion: -1 }], { code: 'invalid_input' }],
      [['KEY', { targetVersion: 1, expectedRevision: '7' }], { code: 'invalid_input' }],
      [['KEY', { targetVersion: 1, comment: '\n' }], { code: 'invalid_input', fields: [{ field: 'comment' }] }],
      [['no key', { targetVersion: 1 }], { code: 'invalid_input', fields: [{ field: 'key' }] }],
    ];
    for (const [input, error] of expected) await expect(calls.rollback(...input)).rejects.toMatchObject(error);
    expect(await calls.read()).toMatchObject({ revision: 1 });
  });
});
