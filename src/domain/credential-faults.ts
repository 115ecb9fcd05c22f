import type { FederationFault, JwtFault } from './jwt-faults.ts';

/**
 * Why a credential opens nothing, although its secret part may be right. `scope_deleted`: its organization, project
 * or environment is gone.
 */
export type CredentialFault = 'pending' | 'revoked' | 'suspended' | 'expired' | 'disabled' | 'scope_deleted';

/**
 * Why a token was refused. `missing`, `malformed`, `unknown` and those of JWTs: it is not known whose it is. `cross_site`:
 * a session works, but another site may have caused the request.
 */
export type RefusalFault =
  CredentialFault | FederationFault | JwtFault | 'missing' | 'malformed' | 'unknown' | 'cross_site';
