import { FormatError } from '../../wire/formats/format-error.ts';
import { type SecretTable, SecretTableBuilder } from '../../wire/formats/secret-table.ts';

/**
 * The files of `docker run --env-file`: lines `KEY=VALUE` without quotes and escapes. All behind the first = is the value,
 * so a value cannot have a line break.
 */

// Docker reads its files in lines of at most 64 KiB.
const maxLineBytes = 64 * 1024 - 1;

/** @throws FormatError naming the keys whose values the format cannot hold. */
export function writeDocker(secrets: SecretTable): string {
  const keysOf = (isFaulty: (value: string, key: string) => boolean): string =>
    [...secrets].flatMap(([key, value]) => (isFaulty(value, key) ? [key] : [])).join(', ');
  const broken = keysOf((value) => /[\n\r\0]/.test(value));
  if (broken !== '') {
    throw new FormatError(`a line of docker cannot hold the line breaks or NULs in ${broken}; use another format`);
  }
  const long = keysOf((value, key) => Buffer.byteLength(`${key}=${value}`) > maxLineBytes);
  if (long !== '')
    throw new FormatError(`docker reads lines of at most 64 KiB, and ${long} needs more; use another format`);
  return [...secrets].map(([key, value]) => `${key}=${value}\n`).join('');
}

/** @throws FormatError with the number of the faulty line, and never with anything of it. */
export function parseDocker(file: string): SecretTable {
  const secrets = new SecretTableBuilder();
  for (const [index, whole] of file
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const line = whole.trimStart().replace(/\r$/, '');
    if (line === '' || line.startsWith('#')) continue;
    const end = line.indexOf('=');
    if (end === -1) {
      const fault = 'has no =; docker would take the variable of its caller. Write KEY= for an empty value';
      throw FormatError.atLine(index + 1, fault);
    }
    secrets.add(line.slice(0, end), line.slice(end + 1), index + 1);
  }
  return secrets.build();
}
