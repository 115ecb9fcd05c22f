import { createHmac, createSecretKey, type Hmac, hkdfSync, type KeyObject } from 'node:crypto';
import { uuidBytes } from './uuid.ts';

const valueLabel = Buffer.from('keyframe value mac 1\0');
const fingerprintLabel = Buffer.from('keyframe fingerprint 1\0');
const clusterLabel = Buffer.from('keyframe cluster fingerprint 1\0');
const keyBytes = 32;

/**
 * HMAC-SHA256 (RFC 2104) of the value of a secret, bound to the UUID of the secret. It shows whether two values of one
 * secret are equal, but cannot compare two secrets. 32 bytes.
 */
export function valueMac(key: KeyObject, secretId: string, value: Uint8Array): Buffer<ArrayBuffer> {
  return createHmac('sha256', key).update(valueLabel).update(uuidBytes(secretId)).update(value).digest();
}

/**
 * The key of a cluster's fingerprints: HKDF-SHA-256 (RFC 5869) of the MAC key, without a salt. A process that has only this
 * key cannot test guesses against the MACs of stored values, or against the fingerprints of other clusters.
 */
export function clusterFingerprintKey(macKey: KeyObject, clusterName: string): KeyObject {
  const info = Buffer.concat([clusterLabel, Buffer.from(clusterName)]);
  return createSecretKey(Buffer.from(hkdfSync('sha256', macKey, Buffer.of(), info, keyBytes)));
}

/**
 * HMAC-SHA256 of a set of named values within a context, independent of their order. Names are distinct. Each part is
 * prefixed with its length, so that different sets never give the same bytes. 32 bytes.
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

/** Compares code units and not by locale, so that every process sorts alike. */
function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
