const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The 16 bytes of a UUID (RFC 9562, section 4). Throws TypeError if the text is not a UUID; the message does not quote it. */
export function uuidBytes(text: string): Buffer {
  if (!pattern.test(text)) throw new TypeError('not a UUID');
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

/** The lower-case text of a UUID from 32 hexadecimal digits. */
export function uuidText(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
