import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

describe('setting a key', () => {
  test('makes version 1 and revision 1, and is read back', async () => {
    const { revisionId: before } = await calls.read();
    const written = await calls.put('API_KEY', 'one');
    expect(written).toMatchObject({ key: 'API_KEY', version: 1, created: true, revision: 1 });
    expect(written.revisionId).not.toBe(before);
    expect(await calls.read()).toEqual({
      revision: 1,
      revisionId: written.revisionId,
      secrets: { API_KEY: ['one', 1] },
    });
    expect(await calls.readOne('API_KEY')).toBe('one');
  });

  test('makes a version also of an equal value', async () => {
    await calls.put('API_KEY', 'one');
    expect(await calls.put('API_KEY', 'one')).toMatchObject({ version: 2, created: false, revision: 2 });
  });

  test.each(['', ' \n\t', '\uFEFFmarked', '𝄞 é "quoted" \\u0041', 'x'.repeat(limits.valueBytes), '\u0000'])(
    'keeps the value as it is (%#)',
    async (value) => {
      await calls.put('KEY', value);
      expect(await calls.readOne('KEY')).toBe(value);
    },
  );

  test.each(['constructor', 'toString', 'a', '.env', '_', '-', 'K'.repeat(limits.secretKeyLength)])(
    'takes the key %p',
    async (key) => {
      await calls.put(key, 'value');
      expect(await calls.readOne(key)).toBe('value');
    },
  );

  test('answers the time that its version, its key and its revision have', async () => {
    const { updatedAt, revisionId } = await calls.put('KEY', 'one');
    const prisma = prismaOf(services.database);
    const revision = await prisma.environmentRevision.findUniqueOrThrow({ where: { id: revisionId } });
    const [version] = await prisma.secretVersion.findMany({
      where: { secret: { environmentId: world.environment.id } },
    });
    const access = await world.onEnvironment(world.viewer.caller, 'secret.read');
    expect([revision.createdAt, version?.createdAt, (await services.secrets.get(access, 'KEY')).updatedAt]).toEqual([
      updatedAt,
      updatedAt,
      updatedAt,
    ]);
  });

  test('remembers who, under the name of then, and why', async () => {
    const token = await world.serviceToken({ name: 'deployer' });
    const access = await world.onEnvironment(token.caller, 'secret.write');
    const { revisionId } = await services.secrets.put(access, 'KEY', { value: new Plaintext('x'), comment: 'rotated' });
    const prisma = prismaOf(services.database);
    expect(await prisma.environmentRevision.findUnique({ where: { id: revisionId } })).toMatchObject({
      actorId: token.id,
      actorType: 'service_token',
      actorName: 'deployer',
      comment: 'rotated',
    });
    expect(
      await prisma.secretVersion.findFirst({ where: { secret: { environmentId: world.environment.id } } }),
    ).toMatchObject({
      changedById: token.id,
      changedByType: 'service_token',
      changedByName: 'deployer',
      changedByCluster: null,
      comment: 'rotated',
    });
  });

  test.each([
    ['key', () => calls.put('..hidden', 'x')],
    ['key', () => calls.put('__proto__', 'x')],
    ['key', () => calls.put('', 'x')],
    ['value', () => calls.put('KEY', 'x'.repeat(limits.valueBytes + 1))],
    ['value', () => calls.put('KEY', '\ud800')],
    ['comment', () => calls.put('KEY', 'x', { comment: 'a\nb' })],
    ['comment', () => calls.put('KEY', 'x', { comment: 'a'.repeat(limits.commentLength + 1) })],
    ['expectedVersion', () => calls.put('KEY', 'x', { expectedVersion: -1 })],
    ['expectedVersion', () => calls.put('KEY', 'x', { expectedVersion: 1.5 })],
    ['expectedVersion', () => calls.put('KEY', 'x', { expectedVersion: 2 ** 31 })],
  ])('refuses a faulty %s (%#) and changes nothing', async (field, attempt) => {
    await expect(attempt()).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    expect(await calls.read()).toMatchObject({ revision: 0, secrets: {} });
  });
});

describe('an expected version', () => {
  test('lets a write through at that version, and refuses it at any other', async () => {
    await calls.put('KEY', 'one', { expectedVersion: 0 });
    await calls.put('KEY', 'two', { expectedVersion: 1 });
    for (const expectedVersion of [0, 1, 3]) {
      await expect(calls.put('KEY', 'three', { expectedVersion })).rejects.toMatchObject({ code: 'version_mismatch' });
    }
    await expect(calls.put('OTHER', 'x', { expectedVersion: 1 })).rejects.toMatchObject({ code: 'version_mismatch' });
    expect(await calls.read()).toMatchObject({ revision: 2, secrets: { KEY: ['two', 2] } });
  });

  test('is 0 for a deleted key, whatever its history', async () => {
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    await expect(calls.put('KEY', 'two', { expectedVersion: 1 })).rejects.toMatchObject({ code: 'version_mismatch' });
    expect(await calls.put('KEY', 'two', { expectedVersion: 0 })).toMatchObject({ version: 2, created: true });
  });

  test('lets one of many writers through that expect the same', async () => {
    await calls.put('KEY', 'base');
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => calls.put('KEY', `from ${index}`, { expectedVersion: 1 })),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await calls.read()).toMatchObject({ revision: 2 });
  });
});

describe('deleting a key', () => {
  test('takes it from the list, is a revision, and keeps its versions', async () => {
    await calls.put('KEY', 'one');
    const { revision, revisionId } = await calls.remove('KEY');
    expect(revision).toBe(2);
    expect(await calls.read()).toEqual({ revision: 2, revisionId, secrets: {} });
    await expect(calls.readOne('KEY')).rejects.toMatchObject({ code: 'not_found' });
    const where = { secret: { environmentId: world.environment.id } };
    expect(await prismaOf(services.database).secretVersion.count({ where })).toBe(1);
  });

  test('is not_found, naming the key, for one that never was and for one that is deleted already', async () => {
    await calls.put('KEY', 'one');
    await calls.remove('KEY');
    for (const key of ['KEY', 'NEVER']) {
      await expect(calls.remove(key)).rejects.toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining(key),
      });
    }
    expect(await calls.read()).toMatchObject({ revision: 2 });
  });

  test('lets the key be created again, which goes on with its numbers', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    await calls.remove('KEY');
    expect(await calls.put('KEY', 'three')).toMatchObject({ version: 3, created: true, revision: 4 });
    expect(await calls.put('KEY', 'four')).toMatchObject({ version: 4, created: false });
    const types = await prismaOf(services.database).secretVersion.findMany({
      where: { secret: { environmentId: world.environment.id } },
      orderBy: { version: 'asc' },
      select: { version: true, changeType: true },
    });
    expect(types.map(({ version, changeType }) => [version, changeType])).toEqual([
      [1, 'created'],
      [2, 'updated'],
      [3, 'created'],
      [4, 'updated'],
    ]);
  });
});

describe('reading', () => {
  test('lists the secrets by key, byte by byte, and the environment with them', async () => {
    await calls.patch({ b: '1', B: '2', _: '3', a: '4', 'a.b': '5', 'a-b': '6' });
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const list = await services.secrets.list(access);
    expect(list.environmentId).toBe(world.environment.id);
    expect(list.secrets.map(({ key }) => key)).toEqual(['B', '_', 'a', 'a-b', 'a.b', 'b']);
  });

  test('of an environment deleted since the access was given is not_found', async () => {
    const list = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const write = await world.onEnvironment(world.developer.caller, 'secret.write');
    const where = { id: world.environment.id };
    await prismaOf(services.database).environment.update({ where, data: { deletedAt: new Date() } });
    await expect(services.secrets.list(list)).rejects.toMatchObject({ code: 'not_found' });
    await expect(services.secrets.put(write, 'KEY', { value: new Plaintext('x') })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('refuses a value whose stored bytes were moved from another key', async () => {
    await calls.patch({ A: 'one', B: 'two' });
    const secrets = await prismaOf(services.database).secret.findMany({
      where: { environmentId: world.environment.id },
      orderBy: { key: 'asc' },
    });
    const [a, b] = secrets;
    const from = await prismaOf(services.database).secretVersion.findUniqueOrThrow({
      where: { id: b?.currentVersionId ?? '' },
    });
    await prismaOf(services.database).secretVersion.update({
      where: { id: a?.currentVersionId ?? '' },
      data: { ciphertext: from.ciphertext },
    });
    await expect(calls.readOne('A')).rejects.toMatchObject({ code: 'internal' });
    await expect(calls.read()).rejects.toMatchObject({ code: 'internal' });
    expect(await calls.readOne('B')).toBe('two');
  });
});
