import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let calls: SecretCalls;

withWorlds((given) => ({ services, calls } = given));

describe('a batch', () => {
  test('sets and deletes in one revision and returns what it did', async () => {
    await calls.patch({ A: '1', B: '2' });
    const answer = await calls.patch({ A: '3', C: '4' }, ['B'], { comment: 'all at once' });
    expect(answer).toMatchObject({
      revision: 2,
      set: [
        { key: 'A', version: 2 },
        { key: 'C', version: 1 },
      ],
      deleted: ['B'],
      unchanged: [],
    });
    expect(await calls.read()).toEqual({
      revision: 2,
      revisionId: answer.revisionId,
      secrets: { A: ['3', 2], C: ['4', 1] },
    });
    const changes = await prismaOf(services.database).secretChange.count({ where: { revisionId: answer.revisionId } });
    expect(changes).toBe(3);
  });

  test('without any key makes no revision', async () => {
    const { revisionId } = await calls.put('A', '1');
    expect(await calls.patch({})).toEqual({ revision: 1, revisionId, set: [], deleted: [], unchanged: [] });
    expect(await calls.read()).toMatchObject({ revision: 1, revisionId });
  });

  test('is refused as a whole when it deletes keys that do not exist, which it names', async () => {
    await calls.put('A', '1');
    await expect(calls.patch({ A: '2', B: '3' }, ['GONE', 'LOST'])).rejects.toMatchObject({
      code: 'not_found',
      detail: 'secrets GONE, LOST do not exist in this environment',
    });
    expect(await calls.read()).toMatchObject({ revision: 1, secrets: { A: ['1', 1] } });
  });

  test.each([
    ['delete.0', () => calls.patch({ A: '1' }, ['A'])],
    ['delete.1', () => calls.patch({}, ['A', 'A'])],
    ['set', () => calls.patch({ 'not a key': '1' })],
    ['delete', () => calls.patch({}, ['not a key'])],
    ['set.B', () => calls.patch({ A: '1', B: '\udfff' })],
    ['comment', () => calls.patch({ A: '1' }, [], { comment: '\u0007' })],
    ['expectedRevision', () => calls.patch({ A: '1' }, [], { expectedRevision: '7' })],
  ])('with a fault in %s is refused (%#), and the fault does not repeat what is no name', async (field, attempt) => {
    const error = await attempt().then(
      () => undefined,
      (reason: { code: string; detail: string; fields: { field: string }[] }) => reason,
    );
    expect(error).toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    expect(JSON.stringify([error?.detail, error?.fields])).not.toContain('not a key');
    expect(await calls.read()).toMatchObject({ revision: 0 });
  });

  test('holds only at the expected revision, also when it would change nothing', async () => {
    const { revisionId } = await calls.put('A', '1');
    const second = await calls.patch({ A: '2' }, [], { expectedRevision: revisionId });
    for (const set of [{ A: '3' }, {}]) {
      await expect(calls.patch(set, [], { expectedRevision: revisionId })).rejects.toMatchObject({
        code: 'version_mismatch',
      });
    }
    await calls.patch({}, [], { expectedRevision: second.revisionId });
    expect(await calls.read()).toMatchObject({ revision: 2, secrets: { A: ['2', 2] } });
  });

  test('with skipUnchanged makes versions of what differs alone, and no revision where nothing does', async () => {
    await calls.patch({ A: '1', B: '2', C: '3' });
    await calls.remove('C');
    const answer = await calls.patch({ A: '1', B: 'changed', C: '3' }, [], { skipUnchanged: true });
    expect(answer).toMatchObject({ revision: 3, unchanged: ['A'] });
    expect(answer.set).toEqual([
      { key: 'B', version: 2 },
      { key: 'C', version: 2 },
    ]);
    const again = await calls.patch({ A: '1', B: 'changed', C: '3' }, [], { skipUnchanged: true });
    expect(again).toMatchObject({ revision: 3, revisionId: answer.revisionId, set: [], unchanged: ['A', 'B', 'C'] });
    expect(await calls.patch({ A: '1' })).toMatchObject({ revision: 4, set: [{ key: 'A', version: 2 }] });
  });

  test('writes as many secrets as an environment may hold, and not one more', async () => {
    const all = Object.fromEntries(
      Array.from({ length: limits.secretsPerEnvironment }, (_, index) => [`KEY_${index}`, String(index)]),
    );
    expect((await calls.patch(all)).set).toHaveLength(limits.secretsPerEnvironment);
    expect(Object.keys((await calls.read()).secrets)).toHaveLength(limits.secretsPerEnvironment);
    await expect(calls.put('ONE_MORE', 'x')).rejects.toMatchObject({ code: 'quota_exceeded' });
    expect(await calls.put('KEY_0', 'a longer value')).toMatchObject({ version: 2 });
    expect(await calls.patch({ ONE_MORE: 'x' }, ['KEY_1'])).toMatchObject({ revision: 3 });
    await calls.remove('KEY_2');
    await calls.put('AND_ANOTHER', 'x');
    await expect(calls.put('KEY_2', 'x')).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  test('keeps the values within the bytes an environment may hold, and lets what is full shrink', async () => {
    const value = 'é'.repeat(limits.valueBytes / 2);
    const fitting = limits.environmentBytes / limits.valueBytes;
    await calls.patch(Object.fromEntries(Array.from({ length: fitting }, (_, index) => [`KEY_${index}`, value])));
    await expect(calls.put('ONE_MORE', 'x')).rejects.toMatchObject({ code: 'quota_exceeded' });
    await calls.put('KEY_0', value);
    await calls.put('EMPTY', '');
    await calls.put('KEY_0', value.slice(1));
    await calls.put('ONE_MORE', 'xx');
    await expect(calls.put('ONE_MORE', 'xxx')).rejects.toMatchObject({ code: 'quota_exceeded' });
    await expect(calls.rollback('KEY_0', { targetVersion: 1 })).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
});
