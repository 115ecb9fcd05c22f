import { describe, expect, test } from '@jest/globals';
import type { FoundState } from '../../../src/domain/secret-states.ts';
import { FormerStateError, formerState } from '../../../src/controller/kinds/secret-sync/read/former-state.ts';
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

function read(found: Partial<FoundState> | DomainError, keys: KeyRules = {}, template?: Template): FoundState {
  const [source] = sourcesOf(secretSync({ spec: { keys } }));
  if (source === undefined) throw new Error('a SecretSync has a source');
  return formerState({ source, template }, () => {
    if (found instanceof DomainError) throw found;
    return { ...state, ...found };
  });
}

describe('a former state', () => {
  test.each<readonly [string, Partial<FoundState> | DomainError, string]>([
    ['with a destroyed value', { destroyed: [{ key: 'A', version: 1 }] }, 'its values of A have been destroyed since'],
    ['with a key that was deleted since', { deletedSince: ['B'] }, 'B was deleted since'],
    ['with keys that were deleted since', { deletedSince: ['B', 'C'] }, 'B, C were deleted since'],
    ['that is gone', new DomainError('not_found', 'x'), revisionGone('acme/web/prod')],
  ])('%s is none to go back to, and the word names it', (_, found, word) => {
    expect(() => read(found)).toThrow(expect.objectContaining({ name: FormerStateError.name, message: word }));
  });

  test('is good where what is lost is not taken into the Secret', () => {
    const lost = { destroyed: [{ key: 'A', version: 1 }], deletedSince: ['B'] };
    expect(read(lost, { exclude: ['A', 'B'] })).toMatchObject({ revision: 7 });
  });

  test('is good where what is lost is hidden, unless the template uses it', () => {
    const lost = { destroyed: [{ key: 'A', version: 1 }], deletedSince: ['B'] };
    const keys = { hidden: ['*'], rewrite: { addPrefix: 'x' } };
    expect(read(lost, keys, { data: { T: '$(A)$(xC)' } })).toMatchObject({ revision: 7 });
    expect(() => read(lost, keys, { data: { T: '$(xA)' } })).toThrow('its values of A have been destroyed');
    expect(() => read(lost, keys, { data: { T: '$(xB | default "b")' } })).toThrow('B was deleted since');
  });

  test('that cannot be read now is no refusal', () => {
    const away = new DomainError('store_unavailable', 'x');
    expect(() => read(away)).toThrow(away);
  });
});
