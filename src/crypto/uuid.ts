const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The 16 bytes of a UUID's text (RFC 9562, section 4). Throws a TypeError, without the text, where it is none. */
export function uuidBytes(text: string): Buffer {
  if (!pattern.test(text)) throw new TypeError('not a UUID');
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

/** The text, in lower case, of a UUID's 16 bytes written as 32 hexadecimal digits. */
export function uuidText(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
