import type { RequiredClaims } from './issuer-presets.ts';
import { limits } from './limits.ts';
import { isAtMost, validateCharacters } from './names.ts';

/** The form of what proves a federated service token (docs/federation.md). Whether it is enough: issuer-presets.ts. */

/** What is wrong with claims, and with which one; null if no single one of them is at fault. */
export interface ClaimsFault {
  readonly claim: string | null;
  readonly message: string;
}

/** Claims that the server checks in each JWT, or that differ in each JWT. */
const otherClaims: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti']);

/** Checks the form of the claims that a federated service token requires. Never quotes a value. */
export function validateClaims(claims: RequiredClaims): ClaimsFault | undefined {
  const entries = Object.entries(claims);
  if (entries.length < 1 || entries.length > limits.claimsPerFederation) {
    return { claim: null, message: `must have 1 to ${limits.claimsPerFederation} claims` };
  }
  for (const [claim, values] of entries) {
    const message = validateClaimName(claim) ?? validateClaimValues(values);
    if (message !== undefined) return { claim, message };
  }
  return undefined;
}

function validateClaimName(name: string): string | undefined {
  const fault = validateClaimText(name, limits.claimNameLength);
  if (fault !== undefined) return `has a name that ${fault}`;
  if (name === '__proto__') return 'must not be __proto__';
  return otherClaims.has(name)
    ? 'must be another claim: the server checks this one itself, or it identifies one JWT'
    : undefined;
}

function validateClaimValues(values: readonly string[]): string | undefined {
  if (values.length < 1 || values.length > limits.valuesPerClaim) {
    return `must have 1 to ${limits.valuesPerClaim} values`;
  }
  const fault = values
    .map((value) => validateClaimText(value, limits.claimValueLength))
    .find((one) => one !== undefined);
  return fault && `has a value that ${fault}`;
}

function validateClaimText(text: string, maxLength: number): string | undefined {
  if (text === '' || !isAtMost(text, maxLength)) return `must be 1 to ${maxLength} characters`;
  return validateCharacters(text);
}
