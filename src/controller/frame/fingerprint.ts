import type { Keyring } from '../../crypto/keyring.ts';

/** Returns a keyed digest of a Secret's data; see `Keyring.fingerprintFor`. */
export type Fingerprint = ReturnType<Keyring['fingerprintFor']>;

/**
 * The fingerprints of this cluster. `cluster` is called at each use, because the name may not be known at the start; what
 * it throws is thrown.
 */
export function fingerprintOfCluster(
  fingerprintFor: (cluster: string) => Fingerprint,
  cluster: () => string,
): Fingerprint {
  let known: { readonly name: string; readonly fingerprint: Fingerprint } | undefined;
  return (context, entries) => {
    const name = cluster();
    if (known?.name !== name) known = { name, fingerprint: fingerprintFor(name) };
    return known.fingerprint(context, entries);
  };
}
