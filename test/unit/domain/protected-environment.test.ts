import { describe, expect, test } from '@jest/globals';
import { type Action, actionLevels, decide, type HeldRole } from '../../../src/domain/policy.ts';
import { actions, permissions, relationsOfLevel, scopes, serviceToken, targetAt, user } from './policy-cases.ts';

/**
 * Who may change the secrets of a protected environment, cell by cell. Service tokens have the permission read_write,
 * and the environment in their scope.
 */
const changes = `
                        people                                    tokens by scope
  action                owner   admin   developer viewer  beneath organization project environment
  environment.copy      allowed allowed denied    denied  denied  denied       denied  allowed
  environment.undelete  allowed allowed denied    denied  denied  denied       denied  denied
  secret.write          allowed allowed denied    denied  denied  denied       denied  allowed
  secret.delete         allowed allowed denied    denied  denied  denied       denied  allowed
  version.rollback      allowed allowed denied    denied  denied  denied       denied  allowed
  version.destroy       allowed allowed denied    denied  denied  denied       denied  denied
  snapshot.restore      allowed allowed denied    denied  denied  denied       denied  allowed
  change.revert         allowed allowed denied    denied  denied  denied       denied  allowed
`;
const rows = changes
  .trim()
  .split('\n')
  .slice(2)
  .map((line) => line.trim().split(/\s+/));
const roles: readonly HeldRole[] = ['owner', 'admin', 'developer', 'viewer', 'beneath'];
const restricted = new Set(rows.map(([action]) => action));

describe('a protected environment', () => {
  test.each(rows)('%s: by role %s %s %s %s %s, by scope %s %s %s', (action, ...decisions) => {
    const target = { ...targetAt(action as Action, 'own'), isProtected: true };
    const people = roles.map((role) => decide(user(false), role, action as Action, target));
    const tokens = scopes.map((scope) => decide(serviceToken(scope, 'read_write'), null, action as Action, target));
    expect([...people, ...tokens]).toEqual(decisions);
  });

  test.each(actions.filter((action) => !restricted.has(action)))('does not restrict %s', (action) => {
    const target = targetAt(action, 'own');
    const isProtected = { ...target, isProtected: true };
    for (const role of [...roles, null]) {
      expect(decide(user(false), role, action, isProtected)).toBe(decide(user(false), role, action, target));
    }
    for (const scope of scopes) {
      for (const permission of permissions) {
        const token = serviceToken(scope, permission);
        expect(decide(token, null, action, isProtected)).toBe(decide(token, null, action, target));
      }
    }
  });

  test('is as hidden as another one, and a token that reads it does not write to it', () => {
    for (const action of actions.filter((each) => actionLevels[each] === 'environment')) {
      expect(decide(user(true), null, action, { ...targetAt(action, 'own'), isProtected: true })).toBe('hidden');
      for (const relation of relationsOfLevel.environment.filter((each) => each !== 'own')) {
        const target = { ...targetAt(action, relation), isProtected: true };
        expect(decide(serviceToken('environment', 'read_write'), null, action, target)).toBe('hidden');
      }
    }
    const target = { ...targetAt('secret.write', 'own'), isProtected: true };
    expect(decide(serviceToken('environment', 'read'), null, 'secret.write', target)).toBe('denied');
  });
});
