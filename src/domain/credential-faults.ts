/**
 * Why a credential opens nothing, although its secret part may be right. `scope_deleted`: its organization, project
 * or environment is gone.
 */
export type CredentialFault = 'pending' | 'revoked' | 'suspended' | 'expired' | 'disabled' | 'scope_deleted';

/**
 * Why a token was refused. `missing`, `malformed` and `unknown`: it is not known whose it is. `cross_site`: a session works,
 * but another site may have caused the request.
 */
export type RefusalFault = CredentialFault | 'missing' | 'malformed' | 'unknown' | 'cross_site';
