import { describe, expect, test } from '@jest/globals';
import type { EnvironmentAccess } from '../../../src/services/access/access.ts';
import type { FoundState } from '../../../src/domain/secret-states.ts';
import { FormerStateError, readFormerState } from '../../../src/controller/kinds/secret-sync/read/former-state.ts';
import type { KeyRules } from '../../../src/controller/kinds/secret-sync/data/keys.ts';
import type { Template } from '../../../src/controller/kinds/secret-sync/data/template.ts';
import { revisionGone } from '../../../src/controller/kinds/secret-sync/messages.ts';
import { sourcesOf } from '../../../src/controller/kinds/secret-sync/spec/source.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { secretSync } from './builders.ts';

const state: FoundState = {
  environmentId: 'e',
  revision: 7,
  revisionId: 'r7',
  secrets: [],
  destroyed: [],
  deletedSince: [],
};
const access = { environmentId: 'e' } as unknown as EnvironmentAccess<'secret.list'>;

async function read(
  found: Partial<FoundState> | DomainError,
  keys: KeyRules = {},
  template?: Template,
): Promise<FoundState> {
  const [source] = sourcesOf(secretSync({ spec: { keys } }));
  if (source === undefined) throw new Error('a SecretSync has a source');
  const find = async (): Promise<FoundState> =>
    found instanceof DomainError ? await Promise.reject(found) : await Promise.resolve({ ...state, ...found });
  return await readFormerState({ find }, { source, template, access, revisionId: 'r7' });
}

describe('a former state', () => {
  test.each<readonly [string, Partial<FoundState> | DomainError, string]>([
    ['with a destroyed value', { destroyed: [{ key: 'A', version: 1 }] }, 'its values of A have been destroyed since'],
    ['with a key that was deleted since', { deletedSince: ['B'] }, 'B was deleted since'],
    ['with keys that were deleted since', { deletedSince: ['B', 'C'] }, 'B, C were deleted since'],
    ['that is gone', new DomainError('not_found', 'x'), revisionGone('acme/web/prod')],
  ])('%s is none to go back to, and the word names it', async (_, found, word) => {
    await expect(read(found)).rejects.toEqual(new FormerStateError(word));
  });

  test('is good where what is lost is not taken into the Secret', async () => {
    const lost = { destroyed: [{ key: 'A', version: 1 }], deletedSince: ['B'] };
    expect(await read(lost, { exclude: ['A', 'B'] })).toMatchObject({ revision: 7 });
  });

  test('is good where what is lost is hidden, unless the template uses it', async () => {
    const lost = { destroyed: [{ key: 'A', version: 1 }], deletedSince: ['B'] };
    const keys = { hidden: ['*'], rewrite: { addPrefix: 'x' } };
    expect(await read(lost, keys, { data: { T: '$(A)$(xC)' } })).toMatchObject({ revision: 7 });
    await expect(read(lost, keys, { data: { T: '$(xA)' } })).rejects.toThrow('its values of A have been destroyed');
    await expect(read(lost, keys, { data: { T: '$(xB | default "b")' } })).rejects.toThrow('B was deleted since');
  });

  test('that cannot be read now is no refusal', async () => {
    const away = new DomainError('store_unavailable', 'x');
    await expect(read(away)).rejects.toBe(away);
  });
});
