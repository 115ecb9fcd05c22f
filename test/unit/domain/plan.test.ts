import { expect, test } from '@jest/globals';
import { holdSameValue } from '../../../src/domain/plans/plan.ts';
import { destroyedVersion, versionOf } from './plan-builders.ts';

test('two versions hold the same value if their MACs are equal and neither value was destroyed', () => {
  expect(holdSameValue(versionOf(1, 'a'), versionOf(2, 'a'))).toBe(true);
  expect(holdSameValue(versionOf(1, 'a'), versionOf(1, 'a'))).toBe(true);
  expect(holdSameValue(versionOf(1, 'a'), versionOf(2, 'b'))).toBe(false);
  expect(holdSameValue(versionOf(1, 'a'), versionOf(2, 'ab'))).toBe(false);
  expect(holdSameValue(destroyedVersion(1), versionOf(2, 'a'))).toBe(false);
  expect(holdSameValue(destroyedVersion(1), destroyedVersion(2))).toBe(false);
});

test.each(Array.from({ length: 32 }, (_, position) => position))(
  'two versions whose MACs differ in one bit of byte %i do not hold the same value',
  (position) => {
    const mac = Uint8Array.from({ length: 32 }, (_, index) => index);
    for (let bit = 0; bit < 8; bit += 1) {
      const other = Uint8Array.from(mac, (byte, index) => (index === position ? byte ^ (1 << bit) : byte));
      const one = { ...versionOf(1, 'a'), valueMac: mac };
      expect(holdSameValue(one, { ...versionOf(2, 'a'), valueMac: Uint8Array.from(mac) })).toBe(true);
      expect(holdSameValue(one, { ...versionOf(2, 'a'), valueMac: other })).toBe(false);
    }
  },
);
