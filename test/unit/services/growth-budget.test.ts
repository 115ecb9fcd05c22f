import { beforeEach, describe, expect, test } from '@jest/globals';
import { GrowthBudget } from '../../../src/services/kernel/growth-budget.ts';

const hourMs = 3_600_000;
let nowMs: number;
let budget: GrowthBudget;

beforeEach(() => {
  nowMs = 1_000_000;
  const limits = { environmentBytesPerDay: 0, callerBytesPerDay: 2400, snapshotsPerEnvironment: 3 };
  budget = new GrowthBudget(limits, () => nowMs);
});

function charge(caller: string, bytes: number): unknown {
  try {
    budget.charge(caller, { bytes, filledSeconds: null });
    return 'charged';
  } catch (error) {
    return error;
  }
}

describe('the budget of a caller', () => {
  test('is a day’s bytes, which drain steadily; each caller has its own', () => {
    expect([charge('a', 2300), charge('a', 200)]).toEqual(['charged', 'charged']);
    expect(charge('a', 1)).toMatchObject({ code: 'limit_exceeded', retryAfterSeconds: 3601 });
    expect(charge('b', 2400)).toBe('charged');
    nowMs += hourMs - 1000;
    expect(charge('a', 1)).toMatchObject({ retryAfterSeconds: 2 });
    nowMs += 1001;
    expect(charge('a', 100)).toBe('charged');
    nowMs += 240 * hourMs;
    expect([charge('a', 2400), charge('a', 1)]).toMatchObject(['charged', { code: 'limit_exceeded' }]);
  });

  test('never refuses what adds nothing, nor one write for being large', () => {
    expect([charge('a', 24_000), charge('a', 0)]).toEqual(['charged', 'charged']);
    expect(charge('a', 1)).toMatchObject({ retryAfterSeconds: 9 * 24 * 3600 + 1 });
  });
});

test('the budget of an environment is judged by how full the bucket was before the write', () => {
  const limits = { environmentBytesPerDay: 86_400, callerBytesPerDay: 0, snapshotsPerEnvironment: 0 };
  const environments = new GrowthBudget(limits);
  // One byte fills it for a second.
  environments.charge('a', { bytes: 5000, filledSeconds: 86_400 + 4999 });
  expect(() => environments.charge('a', { bytes: 5000, filledSeconds: 86_400 + 5000 })).toThrow(
    'try again in 1 seconds',
  );
});

test('the number of snapshots is bounded by those that were there before', () => {
  const growth = { bytes: 300, filledSeconds: null };
  budget.chargeSnapshot('a', { ...growth, snapshotsBefore: 2 });
  expect(() => budget.chargeSnapshot('a', { ...growth, snapshotsBefore: 3 })).toThrow('at most 3 snapshots');
});
