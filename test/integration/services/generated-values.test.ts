import { describe, expect, test } from '@jest/globals';
import { charsetNames, charsets } from '../../../src/domain/generated-values.ts';
import type { GenerateInput } from '../../../src/services/secrets/secret-changes.ts';
import type { PatchInput } from '../../../src/services/secrets/secrets.ts';
import type { PatchAnswer } from '../../../src/services/secrets/secret-write-answers.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

async function generate(
  keys: Readonly<Record<string, GenerateInput>>,
  rest: Omit<PatchInput, 'set' | 'generate'> & { readonly set?: Readonly<Record<string, string>> } = {},
): Promise<PatchAnswer> {
  const { set = {}, delete: deleted = [], ...others } = rest;
  return calls.patch(set, deleted, { generate: new Map(Object.entries(keys)), ...others });
}

async function keysAndVersions(): Promise<Record<string, number>> {
  const { secrets } = await calls.read();
  return Object.fromEntries(Object.entries(secrets).map(([key, [, version]]) => [key, version]));
}

describe('a value that the server makes up', () => {
  test('is 32 letters and digits by default, and not the same twice', async () => {
    const answer = await generate({ A: {}, B: {} });
    expect(answer.set).toEqual([
      { key: 'A', version: 1 },
      { key: 'B', version: 1 },
    ]);
    const values = [await calls.readOne('A'), await calls.readOne('B')];
    for (const value of values) {
      expect(value).toMatch(/^[A-Za-z0-9]{32}$/);
      expect(JSON.stringify(answer)).not.toContain(value);
    }
    await generate({ A: {} });
    expect(new Set([...values, await calls.readOne('A')]).size).toBe(3);
    expect((await calls.history('A')).map(({ changeType }) => changeType)).toEqual(['updated', 'created']);
  });

  test.each(charsetNames)('is of %s and as long as asked for', async (charset) => {
    await generate({ SHORT: { charset, length: 4 }, LONG: { charset, length: 4096 } });
    for (const [key, length] of [
      ['SHORT', 4],
      ['LONG', 4096],
    ] as const) {
      const value = await calls.readOne(key);
      expect(value).toHaveLength(length);
      expect(Array.from(value).every((character) => charsets[charset].includes(character))).toBe(true);
    }
  });

  test('comes with what is set and deleted in one revision, or not at all', async () => {
    await calls.patch({ OLD: 'x', KEY: 'y' });
    const { revision, set, deleted } = await generate({ MADE: {} }, { set: { KEY: 'z' }, delete: ['OLD'] });
    expect([revision, set.map(({ key }) => key), deleted]).toEqual([2, ['KEY', 'MADE'], ['OLD']]);
    await expect(generate({ KEY: {}, MADE: {} }, { delete: ['ABSENT'] })).rejects.toMatchObject({ code: 'not_found' });
    const stale = generate({ KEY: { expectedVersion: 1 }, MADE: {} });
    await expect(stale).rejects.toMatchObject({ code: 'version_mismatch' });
    await expect(generate({ MADE: { expectedVersion: 0 } })).rejects.toMatchObject({ code: 'version_mismatch' });
    expect(await keysAndVersions()).toEqual({ KEY: 2, MADE: 1 });
    await generate({ KEY: { expectedVersion: 2 }, NEW: { expectedVersion: 0 } });
    expect(await keysAndVersions()).toEqual({ KEY: 3, MADE: 1, NEW: 1 });
  });

  test('makes a version whatever skipUnchanged says of the others', async () => {
    await calls.patch({ KEY: 'same' });
    const wishes = await generate(
      { MADE: { length: 4, charset: 'digits' } },
      { set: { KEY: 'same' }, skipUnchanged: true },
    );
    expect([wishes.set.map(({ key }) => key), wishes.unchanged]).toEqual([['MADE'], ['KEY']]);
  });

  test('is marked as such in the audit, by its key', async () => {
    await generate({ MADE: {} }, { set: { KEY: 'x' } });
    const [row] = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'secret.write', organizationId: world.organization.id },
    });
    expect(row?.target).toMatchObject({ setKeys: ['KEY', 'MADE'], set: 2, generatedKeys: ['MADE'], generated: 1 });
    expect(JSON.stringify(row?.target)).not.toContain(await calls.readOne('MADE'));
  });

  test('is refused for a key that is named elsewhere, and beyond its limits, and nothing is written', async () => {
    const refused = async (work: Promise<unknown>, field: string, message: string | RegExp): Promise<void> => {
      await expect(work).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field, message: expect.stringMatching(message) }],
      });
    };
    await refused(generate({ A: {} }, { set: { A: 'x' } }), 'generate.A', 'A is in set as well');
    await refused(generate({ A: {} }, { delete: ['A'] }), 'delete.0', 'A is in generate as well');
    await refused(generate({ A: { length: 3 } }), 'generate.A.length', 'from 4 to 4096');
    await refused(generate({ A: { length: 4097 } }), 'generate.A.length', 'from 4 to 4096');
    await refused(
      generate({ A: { charset: 'toString' as 'hex' } }),
      'generate.A.charset',
      'must be one of alphanumeric',
    );
    await refused(generate({ 'no key': {} }), 'generate', 'the key of entry 1');
    await refused(generate({ A: { expectedVersion: -1 } }), 'generate.A.expectedVersion', 'must be a whole number');
    const many = Object.fromEntries(Array.from({ length: 4097 }, (_, index) => [`K${index}`, { length: 4096 }]));
    await refused(generate(many), 'generate', 'at most 16777216 characters together');
    expect((await calls.read()).revision).toBe(0);
  });
});
