import { sha256 } from '../lib/digest.ts';

/** Short forms of long names. */

export interface ShortForm {
  /** A name of up to this length stays unchanged. */
  readonly maxLength: number;
  /** The length of the prefix that is kept of a longer name. */
  readonly headLength: number;
  /** The text between the prefix and the digest. */
  readonly separator: string;
  /** The number of hexadecimal digits of the digest. */
  readonly digestLength: number;
}

/** A name, or its prefix and a digest if it is too long. The form is stored on objects, so it must not change. */
export function shorten(name: string, { maxLength, headLength, separator, digestLength }: ShortForm): string {
  if (name.length <= maxLength) return name;
  return `${name.slice(0, headLength)}${separator}${sha256(name).slice(0, digestLength)}`;
}

/** A short digest that identifies a text: the first 16 bytes of its SHA-256, in hexadecimal digits. */
export function shortDigest(text: string): string {
  return sha256(text).slice(0, 32);
}

const maxListLength = 200;

/** A list of names for a message, shortened because an Event holds at most 1024 characters. */
export function shortList(names: readonly string[]): string {
  let length = 0;
  const shown = names.filter((name) => {
    length += name.length + 2;
    return length <= maxListLength;
  });
  const rest = names.length - shown.length;
  if (shown.length === 0) return `their names are long`;
  return rest === 0 ? shown.join(', ') : `${shown.join(', ')} and ${rest} more`;
}
