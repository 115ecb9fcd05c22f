import { randomBytes } from 'node:crypto';
import { Plaintext } from '../domain/plaintext.ts';

/**
 * Returns random characters of an alphabet of 2 to 256 distinct characters, with equal probability. Uses bytes of the
 * system's generator, but discards bytes above the last multiple of the size of the alphabet, because they would favour
 * its first characters. Throws RangeError for an invalid size or length.
 */
export function randomText(alphabet: string, length: number): Plaintext {
  const size = alphabet.length;
  if (size < 2 || size > 256 || !Number.isInteger(length) || length < 0)
    throw new RangeError('invalid alphabet or length');
  const usable = 256 - (256 % size);
  const characters: string[] = [];
  while (characters.length < length) {
    // Usually enough at once, because less than half is discarded.
    const bytes = randomBytes(Math.ceil(((length - characters.length) * 256) / usable) + 8);
    for (const byte of bytes) {
      if (byte < usable && characters.length < length) characters.push(alphabet.charAt(byte % size));
    }
    bytes.fill(0);
  }
  return new Plaintext(characters.join(''));
}
