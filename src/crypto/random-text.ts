import { randomBytes } from 'node:crypto';
import { Plaintext } from '../domain/plaintext.ts';

/**
 * A text of random characters of an alphabet of 2 to 256 distinct ones, each as likely as the others: bytes of the
 * system's generator, of which those above the last whole multiple of the alphabet's size are thrown away, because they
 * would favour its first characters. A size or a length that cannot be is a RangeError.
 */
export function randomText(alphabet: string, length: number): Plaintext {
  const size = alphabet.length;
  if (size < 2 || size > 256 || !Number.isInteger(length) || length < 0) throw new RangeError('no text can be of that');
  const usable = 256 - (256 % size);
  const characters: string[] = [];
  while (characters.length < length) {
    // As a rule enough at once: what is thrown away is less than half.
    const bytes = randomBytes(Math.ceil(((length - characters.length) * 256) / usable) + 8);
    for (const byte of bytes) {
      if (byte < usable && characters.length < length) characters.push(alphabet.charAt(byte % size));
    }
    bytes.fill(0);
  }
  return new Plaintext(characters.join(''));
}
