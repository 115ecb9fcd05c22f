import { describe, expect, test } from '@jest/globals';
import { type Action, actionLevels, decide, type HeldRole } from '../../../src/domain/policy.ts';
import type { TokenPermission } from '../../../src/domain/grants.ts';
import type { TokenScope } from '../../../src/domain/principal.ts';
import { organizationId, serviceToken, user } from './policy-principals.ts';

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
const restricted = new Set(rows.map(([action]) => action));

const roles: readonly HeldRole[] = ['owner', 'admin', 'developer', 'viewer', 'beneath'];
const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];
const permissions: readonly TokenPermission[] = ['read', 'read_write'];
const actions = (Object.keys(actionLevels) as Action[]).filter((action) => actionLevels[action] === 'environment');
const environment = { organizationId, projectId: 'project-1', environmentId: 'environment-1' };
const protectedOne = { ...environment, isProtected: true };

describe('a protected environment', () => {
  test.each(rows)('%s: by role %s %s %s %s %s, by scope %s %s %s', (action, ...decisions) => {
    const people = roles.map((role) => decide(user(false), role, action as Action, protectedOne));
    const tokens = scopes.map((scope) =>
      decide(serviceToken(scope, 'read_write'), null, action as Action, protectedOne),
    );
    expect([...people, ...tokens]).toEqual(decisions);
  });

  test.each(actions.filter((action) => !restricted.has(action)))('does not restrict %s', (action) => {
    for (const role of [...roles, null]) {
      expect(decide(user(false), role, action, protectedOne)).toBe(decide(user(false), role, action, environment));
    }
    for (const token of scopes.flatMap((scope) => permissions.map((one) => serviceToken(scope, one)))) {
      expect(decide(token, null, action, protectedOne)).toBe(decide(token, null, action, environment));
    }
  });

  test.each(actions)('%s: it is as hidden as another one', (action) => {
    expect(decide(user(true), null, action, protectedOne)).toBe('hidden');
    const sibling = { ...protectedOne, environmentId: 'environment-2' };
    expect(decide(serviceToken('environment', 'read_write'), null, action, sibling)).toBe('hidden');
  });

  test.each(rows)('%s: a token that only reads the environment may not', (action) => {
    expect(decide(serviceToken('environment', 'read'), null, action as Action, protectedOne)).toBe('denied');
  });
});
