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
