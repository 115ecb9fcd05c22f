import { createHmac, type Hmac, type KeyObject } from 'node:crypto';

const fingerprintLabel = Buffer.from('keyframe fingerprint 1\0');

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

/** A keyed digest of named values within a context. */
export type SetFingerprint = (context: string, entries: Iterable<readonly [string, Uint8Array]>) => Buffer<ArrayBuffer>;

/** The fingerprints of the cluster that has the name at each use. Throws what `cluster` and `keyOf` throw. */
export function fingerprintOfCluster(keyOf: (cluster: string) => KeyObject, cluster: () => string): SetFingerprint {
  let known: { readonly name: string; readonly key: KeyObject } | undefined;
  return (context, entries) => {
    const name = cluster();
    if (known?.name !== name) known = { name, key: keyOf(name) };
    return setFingerprint(known.key, context, entries);
  };
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
