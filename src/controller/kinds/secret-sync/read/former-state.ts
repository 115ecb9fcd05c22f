import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { FoundState } from '../../../../domain/secret-states.ts';
import { chooseKeys, neededBy } from '../data/keys.ts';
import type { Template } from '../data/template.ts';
import { environmentPath } from '../../../environment-ref.ts';
import { type Source, fieldOf } from '../spec/source.ts';
import { keysDeletedSince, revisionGone, valuesDestroyedSince } from '../messages.ts';

/** Why a Secret cannot be rolled back to a former state of its source, as a clause without values. */
export class FormerStateError extends Error {
  override readonly name = 'FormerStateError';
}

export interface FormerReading {
  readonly source: Source;
  readonly template: Template | undefined;
}

/**
 * Returns a former state of a source for a rollback, as `find` returns it. Throws FormerStateError if the revision is gone, or
 * if one of the Secret's keys, or a hidden one that the template uses, was deleted since or its value destroyed, even if the
 * key was created again. Throws what `find` throws.
 */
export function formerState({ source, template }: FormerReading, find: () => FoundState): FoundState {
  const state = foundAt(source, find);
  const needed = (keys: readonly string[]): string[] =>
    chooseKeys(source.keys, keys, fieldOf(source, 'keys'))
      .filter(neededBy(template))
      .map(({ key }) => key);
  const destroyed = needed(state.destroyed.map(({ key }) => key));
  if (destroyed.length > 0) throw new FormerStateError(valuesDestroyedSince(destroyed));
  const deleted = needed(state.deletedSince);
  if (deleted.length > 0) throw new FormerStateError(keysDeletedSince(deleted));
  return state;
}

function foundAt(source: Source, find: () => FoundState): FoundState {
  try {
    return find();
  } catch (error) {
    if (!(error instanceof DomainError) || !['not_found', 'invalid_input'].includes(error.code)) throw error;
    throw new FormerStateError(revisionGone(environmentPath(source)), { cause: error });
  }
}
