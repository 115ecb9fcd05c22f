import { invalidField } from '../../domain/errors/domain-error.ts';
import { type KeySelection, validateGlobCount, validateKeyGlob } from '../../domain/key-globs.ts';
import {
  uuidPattern,
  validateClusterName,
  validateComment,
  validateName,
  validateSecretKey,
  validateSecretKeyPrefix,
  validateSlug,
} from '../../domain/names.ts';

/**
 * The last line of input checks: the edges parse their input, and the services check it again. Each
 * throws DomainError invalid_input with the field's name, never its content.
 */

/** The largest number the database keeps for versions. */
const maxVersion = 2 ** 31 - 1;

export function checkSlug(field: string, slug: string): void {
  refuse(field, validateSlug(slug));
}

export function checkName(field: string, name: string): void {
  refuse(field, validateName(name));
}

export function checkClusterName(field: string, name: string): void {
  refuse(field, validateClusterName(name));
}

export function checkComment(comment: string | undefined): void {
  if (comment !== undefined) refuse('comment', validateComment(comment));
}

export function checkDescription(description: string | undefined): void {
  if (description !== undefined) refuse('description', validateComment(description));
}

export function checkKey(key: string): void {
  refuse('key', validateSecretKey(key));
}

export function checkKeyPrefix(field: string, prefix: string): void {
  refuse(field, validateSecretKeyPrefix(prefix));
}

/** Globs of keys that are included and excluded. */
export function checkKeySelection(field: string, selection: KeySelection): void {
  for (const [list, globs] of Object.entries(selection)) {
    refuse(`${field}.${list}`, validateGlobCount(globs));
    for (const [index, glob] of globs.entries()) refuse(`${field}.${list}.${index}`, validateKeyGlob(glob));
  }
}

/** A revision's number, or its id in lower case. */
export function checkRevision(field: string, revision: number | string): void {
  if (typeof revision === 'number') checkVersion(field, revision, 0);
  else checkUuid(field, revision);
}

export function isUuid(text: string): boolean {
  return uuidPattern.test(text);
}

/** Lower-case, as the database returns them: ids are compared as text. */
export function checkUuid(field: string, id: string): void {
  refuse(field, isUuid(id) ? undefined : 'must be a UUID in lower case');
}

/** A version number, or 0 if the caller allows `min` 0. */
export function checkVersion(field: string, version: number, min: 0 | 1 = 1): void {
  checkWhole(field, version, { min, max: maxVersion });
}

export function checkWhole(field: string, value: number, { min, max }: { min: number; max: number }): void {
  const fits = Number.isInteger(value) && value >= min && value <= max;
  refuse(field, fits ? undefined : `must be a whole number from ${min} to ${max}`);
}

function refuse(field: string, message: string | undefined): void {
  if (message !== undefined) throw invalidField(field, message);
}
