import type { Keyring } from '../../crypto/keyring.ts';

/** Returns a keyed digest of a Secret's data; see `Keyring.fingerprint`. */
export type Fingerprint = Keyring['fingerprint'];
