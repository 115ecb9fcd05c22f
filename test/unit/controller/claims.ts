import type { SecretClaim } from '../../../src/controller/kinds/secret-claims/claim.ts';

/** The claim of the SecretSync `other`, which never held the Secret. */
export function claim(more: Partial<SecretClaim> = {}): SecretClaim {
  return {
    kind: 'SecretSync',
    name: 'other',
    isMerge: false,
    createdAt: '2026-01-01T00:00:00Z',
    heldAt: undefined,
    ...more,
  };
}
