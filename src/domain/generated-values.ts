import { limits } from './limits.ts';

/** Values that the server makes up itself (docs/interface.md 4.12): what they are of, and how long they are. */

const digits = '0123456789';
const lowerCase = 'abcdefghijklmnopqrstuvwxyz';
const alphanumeric = digits + lowerCase.toUpperCase() + lowerCase;

/** The characters of each charset: distinct ones, of ASCII, so that a character is a byte. */
export const charsets = {
  alphanumeric,
  digits,
  hex: `${digits}abcdef`,
  base64url: `${alphanumeric}-_`,
  // Without the space, which gets lost at the ends of lines.
  'ascii-printable': Array.from({ length: 94 }, (_, index) => String.fromCharCode(0x21 + index)).join(''),
} as const satisfies Record<string, string>;

export type CharsetName = keyof typeof charsets;

export const charsetNames = Object.keys(charsets) as CharsetName[];

/** What is made where nothing is said: 32 characters of 62 hold 190 bits. */
export const defaultGeneration = { length: 32, charset: 'alphanumeric' } as const;

/** A value that is to be made up. */
export interface Generation {
  readonly length: number;
  readonly charset: CharsetName;
}

/** What is wrong with the length of a value that is to be made up. */
export function validateGeneratedLength(length: number): string | undefined {
  const { minGeneratedLength: least, maxGeneratedLength: most } = limits;
  const fits = Number.isInteger(length) && length >= least && length <= most;
  return fits ? undefined : `must be a whole number from ${least} to ${most}`;
}
