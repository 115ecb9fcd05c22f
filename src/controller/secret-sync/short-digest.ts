import { createHash } from 'node:crypto';

/** Tells one text from another where there is little room: the first 16 bytes, in hex, of its SHA-256. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
