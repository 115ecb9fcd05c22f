import { describe, expect, test } from '@jest/globals';
import { federationFaults, jwtChecks, jwtFaults } from '../../../src/domain/jwt-faults.ts';

describe('the faults of JWTs', () => {
  test('stand in the order of the checks', () => {
    const positions = Object.values(jwtFaults).map(({ check }) => jwtChecks.indexOf(check));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(new Set(positions).size).toBe(jwtChecks.length - 1);
  });

  test.each([
    ...Object.entries(jwtFaults).map(([fault, { detail }]) => [fault, detail] as const),
    ...Object.entries(federationFaults),
  ])('%s says what is wrong in lower case, without a stop', (_fault, detail) =>
    expect(detail).toMatch(/^(?:[a-z]|JWT).*[^.]$/),
  );
});
