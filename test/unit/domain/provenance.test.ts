import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { delegatorsOf } from '../../../src/domain/provenance.ts';

describe('the delegators of what is made', () => {
  test.each([
    ['for oneself', { userId: 'ann', makerId: 'ann', inherited: [] }, []],
    ['for another user', { userId: 'bob', makerId: 'ann', inherited: [] }, ['ann']],
    ['for an address', { userId: null, makerId: 'ann', inherited: [] }, ['ann']],
    ['with a credential of others', { userId: 'ann', makerId: 'ann', inherited: ['root', 'eve'] }, ['root', 'eve']],
    ['with it for another user', { userId: 'bob', makerId: 'ann', inherited: ['root'] }, ['root', 'ann']],
    [
      'with a credential that its user made for the maker',
      { userId: 'bob', makerId: 'ann', inherited: ['bob'] },
      ['ann'],
    ],
    ['twice through one user', { userId: 'bob', makerId: 'ann', inherited: ['ann', 'root'] }, ['ann', 'root']],
  ])('%s', (_, making, expected) => {
    expect(delegatorsOf(making)).toEqual(expected);
  });

  test('are at most 8', () => {
    const inherited = ['1', '2', '3', '4', '5', '6', '7', '8'];
    expect(delegatorsOf({ userId: 'ann', makerId: 'ann', inherited })).toEqual(inherited);
    expect(delegatorsOf({ userId: 'bob', makerId: '8', inherited })).toEqual(inherited);
    const ninth = (): unknown => delegatorsOf({ userId: 'bob', makerId: 'ann', inherited });
    expect(ninth).toThrow(DomainError);
    expect(ninth).toThrow('`keyframe user sign-in-link`');
  });
});
