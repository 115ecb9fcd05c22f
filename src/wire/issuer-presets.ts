/** Which claims are enough, for clients. */

export { type IssuerPreset, type NeededClaim, sufficientClaims } from '../domain/issuer-presets.ts';
