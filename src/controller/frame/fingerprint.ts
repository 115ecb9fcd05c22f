import type { Keyring } from '../../crypto/keyring.ts';

/** Makes a keyed digest of a Secret's whole data; see `Keyring.fingerprint`. */
export type Fingerprint = Keyring['fingerprint'];
