import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { uuidBytes } from './uuid.ts';

const valueLabel = Buffer.from('keyframe value mac 1\0');
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
