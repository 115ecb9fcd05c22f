// In ASCII order, so that texts of equal length sort like their numbers.
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Encodes bytes as one big-endian number in base62, with leading zeros. `length` must be enough for all values. */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let place = 0; place < length; place += 1) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  if (rest !== 0n) throw new RangeError(`${bytes.length} bytes do not fit in ${length} characters of base62`);
  return text;
}

/** Decodes a base62 number. Throws RangeError for any other character. */
export function decodeBase62(text: string): bigint {
  let number = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) throw new RangeError('not base62');
    number = number * 62n + BigInt(digit);
  }
  return number;
}
