import { describe, expect, test } from '@jest/globals';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import { findLeaks } from '../../support/fixtures/leak-search.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;

withWorlds((given) => ({ database, services, world } = given));

describe('a value', () => {
  test('is nowhere in the database, whatever is done with it, nor is a token', async () => {
    const canary = new Canary();
    const token = await world.serviceToken();
    const places = [databaseRows(database.url), databaseBytes(database.url)];
    for (const { caller } of [world.developer, token]) {
      const calls = secretCalls(services, world, caller);
      await calls.put('KEY', canary.value);
      await calls.patch({ KEY: canary.value, OTHER: canary.value });
      await calls.patch({ KEY: canary.value }, [], { skipUnchanged: true });
      await calls.rollback('KEY', { targetVersion: 1 });
      await calls.read();
      expect(await calls.readOne('KEY')).toBe(canary.value);
      await services.versions.get(await world.onEnvironment(caller, 'version.read'), 'KEY', 1);
      await calls.remove('OTHER');
      const misplaced = [
        () => calls.put('KEY', canary.value, { expectedVersion: 99 }),
        () => calls.put(canary.value, 'x'),
        () => calls.patch({ [canary.value]: 'x' }, [canary.value]),
        () => calls.patch({ OK: canary.value, [canary.value]: canary.value }),
        () => calls.put('KEY', 'x', { comment: canary.value }),
        () => calls.patch({ KEY: 'x' }, [], { expectedRevision: canary.value }),
        () => calls.readOne(canary.value),
        () => calls.history(canary.value),
        () => services.access.environment(caller, 'secret.list', { ...world.slugs, project: canary.value }),
      ];
      for (const attempt of misplaced) {
        const error: unknown = await attempt().catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: expect.stringMatching(/invalid_input|version_mismatch/) });
        const { detail, fields } = error as { detail: string; fields: unknown };
        expect(canary.traces(Buffer.from(JSON.stringify([detail, fields])))).toEqual([]);
      }
    }
    expect(await findLeaks(canary, places)).toEqual([]);
    const rows = await prismaOf(services.database).$queryRaw<
      { text: string }[]
    >`SELECT a::text AS text FROM audit_entry a`;
    expect(rows.filter(({ text }) => text.includes(token.token.reveal().slice(7)))).toEqual([]);
  });

  test('would be found there: in an audit row, and in the bytes of a version', async () => {
    const canary = new Canary();
    const { caller } = world.developer;
    await secretCalls(services, world, caller).put('KEY', 'x', { comment: canary.value.slice(0, 16) });
    expect(await findLeaks(canary, [databaseRows(database.url)])).not.toEqual([]);
    const where = { secret: { environmentId: world.environment.id } };
    const data = { ciphertext: Buffer.from(canary.value) };
    await prismaOf(services.database).secretVersion.updateMany({ where, data });
    expect(await findLeaks(canary, [databaseBytes(database.url)])).not.toEqual([]);
  });

  test('equal to another one leaves different bytes', async () => {
    const calls = secretCalls(services, world, world.developer.caller);
    await calls.patch({ A: 'same', B: 'same' });
    await calls.put('A', 'same');
    const rows = await prismaOf(services.database).secretVersion.findMany({
      where: { secret: { environmentId: world.environment.id } },
      select: { ciphertext: true, valueMac: true, secretId: true },
    });
    const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
    expect(new Set(rows.map(({ ciphertext }) => hex(ciphertext))).size).toBe(3);
    // The MAC is bound to the secret: it shows that a key's value stayed, and nothing across keys.
    expect(new Set(rows.map(({ valueMac }) => hex(valueMac))).size).toBe(2);
  });
});

describe('a Plaintext', () => {
  test('is what services answer values and tokens in', async () => {
    await secretCalls(services, world, world.owner.caller).put('KEY', 'one');
    const list = await services.secrets.list(await world.onEnvironment(world.viewer.caller, 'secret.list'));
    expect(list.secrets[0]?.value).toBeInstanceOf(Plaintext);
    expect(JSON.stringify(list)).not.toContain('"one"');
  });
});
