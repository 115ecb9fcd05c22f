import { describe, expect, test } from '@jest/globals';
import { decideInstance, decidePerson, instanceActions, personActions } from '../../../src/domain/policy.ts';
import type { TokenScope } from '../../../src/domain/principal.ts';
import { serviceToken, user } from './policy-principals.ts';

const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];

describe('actions on the instance', () => {
  test.each(instanceActions)('%s is for instance admins alone', (action) => {
    expect(decideInstance(user(true), action)).toBe('allowed');
    expect(decideInstance(user(false), action)).toBe('denied');
    for (const scope of scopes) expect(decideInstance(serviceToken(scope, 'read_write'), action)).toBe('denied');
  });
});

describe('actions on one’s own things', () => {
  const session = { isRecent: true, tokensEndAt: new Date(), tokenExpiresAt: null };

  test.each(personActions)('%s is for every person in a session, and for no service token', (action) => {
    const withToken = ['login.read', 'login.approve', 'passkey.create'].includes(action) ? 'denied' : 'allowed';
    for (const instanceAdmin of [false, true]) {
      expect(decidePerson(user(instanceAdmin), action)).toBe(withToken);
      expect(decidePerson({ ...user(instanceAdmin), session }, action)).toBe('allowed');
    }
    for (const scope of scopes) expect(decidePerson(serviceToken(scope, 'read_write'), action)).toBe('denied');
  });
});
