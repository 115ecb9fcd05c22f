import { createHmac, type Hmac, type KeyObject } from 'node:crypto';
import { uuidBytes } from './uuid.ts';

// One key serves both: the first bytes keep a MAC of the one kind from ever being one of the other.
const valueLabel = Buffer.from('keyframe value mac 1\0');
const fingerprintLabel = Buffer.from('keyframe fingerprint 1\0');

/**
 * HMAC-SHA256 (RFC 2104) of a secret's value, bound to the secret's UUID: tells equal values of one secret from
 * different ones, and nothing about two secrets. 32 bytes.
 */
export function valueMac(key: KeyObject, secretId: string, value: Uint8Array): Buffer<ArrayBuffer> {
  return createHmac('sha256', key).update(valueLabel).update(uuidBytes(secretId)).update(value).digest();
}

/**
 * HMAC-SHA256 of a whole set of named values within a context, whatever their order. Names are distinct; each part is
 * preceded by its length, so that no two different sets give the same bytes. 32 bytes.
 */
export function setFingerprint(
  key: KeyObject,
  context: string,
  entries: Iterable<readonly [string, Uint8Array]>,
): Buffer<ArrayBuffer> {
  const hmac = createHmac('sha256', key).update(fingerprintLabel);
  updateWithLength(hmac, Buffer.from(context));
  for (const [name, value] of [...entries].toSorted(byName)) {
    updateWithLength(hmac, Buffer.from(name));
    updateWithLength(hmac, value);
  }
  return hmac.digest();
}

function updateWithLength(hmac: Hmac, bytes: Uint8Array): void {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  hmac.update(length).update(bytes);
}

/** By code units, not by a locale: every process must sort alike. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
