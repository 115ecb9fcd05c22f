import { FormatError } from '../../wire/formats/format-error.ts';
import type { SecretTable } from '../../wire/formats/secret-table.ts';

const identifier = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Writes `export KEY='…'` lines for `eval` in any POSIX shell: within single quotes nothing is expanded, and the quote itself
 * stands as `'\''`.
 *
 * @throws FormatError naming the keys that are no names of variables, or hold a NUL, which no shell can keep.
 */
export function writeShell(secrets: SecretTable): string {
  const unnamed = [...secrets.keys()].filter((key) => !identifier.test(key));
  if (unnamed.length > 0) {
    throw new FormatError(`a shell has no variable called ${unnamed.join(', ')}; use another format`);
  }
  const withNul = [...secrets].filter(([, value]) => value.includes('\0')).map(([key]) => key);
  if (withNul.length > 0) {
    throw new FormatError(`a shell cannot hold the NUL character in ${withNul.join(', ')}; use another format`);
  }
  return [...secrets].map(([key, value]) => `export ${key}='${value.replaceAll("'", String.raw`'\''`)}'\n`).join('');
}
