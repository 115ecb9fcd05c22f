import { limits } from './limits.ts';

/** Random values that the server generates (docs/interface.md 4.12): their characters and lengths. */

const digits = '0123456789';
const lowerCase = 'abcdefghijklmnopqrstuvwxyz';
const alphanumeric = digits + lowerCase.toUpperCase() + lowerCase;

/** The characters of each charset. They are distinct ASCII characters, so that one character is one byte. */
export const charsets = {
  alphanumeric,
  digits,
  hex: `${digits}abcdef`,
  base64url: `${alphanumeric}-_`,
  // Without the space, which editors remove at the end of a line.
  'ascii-printable': Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join(''),
} as const satisfies Record<string, string>;

export type CharsetName = keyof typeof charsets;

export const charsetNames = Object.keys(charsets) as CharsetName[];

/** The default: 32 characters of 62 have 190 bits. */
export const defaultGeneration = { length: 32, charset: 'alphanumeric' } as const;

/** Length and charset of a value to generate. */
export interface Generation {
  readonly length: number;
  readonly charset: CharsetName;
}

/** Returns a validation message if the length of a generated value is out of range. */
export function validateGeneratedLength(length: number): string | undefined {
  const { minGeneratedLength: min, maxGeneratedLength: max } = limits;
  const fits = Number.isInteger(length) && length >= min && length <= max;
  return fits ? undefined : `must be a whole number from ${min} to ${max}`;
}
