import type { KeyVersion, PresentKey } from '../../../src/domain/plans/plan.ts';

/** A UUID that ends with a number. */
export function id(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
}

/** A version with a one-letter value, whose MAC is that letter. */
export function versionOf(version: number, value: string, rest: Partial<KeyVersion> = {}): KeyVersion {
  const valueMac = new TextEncoder().encode(value);
  return { versionId: id(version), version, valueMac, valueBytes: 10, isDestroyed: false, ...rest };
}

/** A version whose value was destroyed. */
export function destroyedVersion(version: number): KeyVersion {
  return versionOf(version, '', { valueBytes: 0, isDestroyed: true });
}

/** A key at version 3 with this value now; deleted if it is null. */
export function presentKey(key: string, value: string | null, rest: Partial<PresentKey> = {}): PresentKey {
  return { secretId: id(9), key, version: 3, live: value === null ? null : versionOf(3, value), ...rest };
}
