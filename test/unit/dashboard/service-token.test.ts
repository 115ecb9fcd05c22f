import { expect, test } from '@jest/globals';
import { adminOf } from '../../../src/dashboard/text/admin-of.ts';
import {
  isChosen,
  placeNames,
  revocationText,
  scopeText,
  shownState,
  stateChoices,
} from '../../../src/dashboard/text/service-token.ts';
import type { ServiceTokenView } from '../../../src/wire/service-tokens.ts';

const now = new Date('2026-06-01T00:00:00.000Z');
const daysAway = (days: number): string => new Date(now.getTime() + days * 86_400_000).toISOString();

function token(given: Partial<ServiceTokenView> = {}): ServiceTokenView {
  return {
    id: 't1',
    organizationId: 'o1',
    name: 'ci',
    scope: 'environment',
    projectId: 'p1',
    environmentId: 'e1',
    permission: 'read',
    createdBy: 'u1',
    createdByType: 'user',
    createdByName: 'ann@example.com',
    cluster: null,
    holder: null,
    createdAt: daysAway(-1),
    expiresAt: null,
    revokedAt: null,
    suspendedAt: null,
    lastUsedAt: null,
    ...given,
  };
}

const names = placeNames([{ project: { id: 'p1', slug: 'shop' }, environments: [{ id: 'e1', slug: 'production' }] }]);

test.each([
  [{}, 'active', ['live', 'all']],
  [{ expiresAt: daysAway(8) }, 'active', ['live', 'all']],
  [{ expiresAt: daysAway(6) }, 'expiring', ['live', 'all']],
  [{ expiresAt: daysAway(0) }, 'expired', ['expired', 'all']],
  [{ suspendedAt: daysAway(-1), expiresAt: daysAway(1) }, 'suspended', ['live', 'all']],
  [{ revokedAt: daysAway(-1), expiresAt: daysAway(-1) }, 'revoked', ['revoked', 'all']],
] as const)('a token with %j is %s', (given, state, choices) => {
  const found = shownState(token(given), now, true);
  expect(found).toBe(state);
  expect(stateChoices.filter((choice) => isChosen(found, choice))).toEqual(choices);
});

const federation = {
  issuer: 'github',
  audience: 'keyframe/i/service-tokens/t1',
  claims: { sub: ['ci'] },
  generation: 1,
  issuerGeneration: 1,
  isAccepted: true,
};
const changed = { ...federation, issuerGeneration: 2, isAccepted: false };
const deleted = { ...changed, issuerGeneration: null };

test.each([
  ['an accepted issuer', { federation }, true, 'active'],
  ['a changed issuer', { federation: changed }, true, 'issuer_changed'],
  ['a changed issuer where impersonation is allowed', { federation: changed }, false, 'active'],
  ['a changed issuer shortly before its end', { federation: changed, expiresAt: daysAway(6) }, true, 'issuer_changed'],
  ['a deleted issuer', { federation: deleted }, false, 'issuer_deleted'],
  ['a changed issuer and a revocation', { federation: changed, revokedAt: daysAway(-1) }, true, 'revoked'],
] as const)('a token with %s has the state that matters most', (_name, given, mustAccept, state) => {
  const found = shownState(token(given), now, mustAccept);
  expect(found).toBe(state);
  expect(isChosen(found, 'waiting')).toBe(state.startsWith('issuer_'));
});

test('the place of a token is named by slugs, and a deleted one as such', () => {
  expect(scopeText(token(), names)).toBe('shop / production');
  expect(scopeText(token({ scope: 'project', environmentId: null }), names)).toBe('shop');
  expect(scopeText(token({ scope: 'organization', projectId: null, environmentId: null }), names)).toBe(
    'Whole organization',
  );
  expect(scopeText(token({ environmentId: 'e2' }), names)).toBe('A deleted environment');
  expect(scopeText(token({ projectId: 'p2', environmentId: null }), names)).toBe('A deleted project');
});

test('the question before a revocation says what stops, and whether it can be undone', () => {
  const everywhere = { scope: 'organization', projectId: null, environmentId: null } as const;
  expect(revocationText(token(), names)).toContain('reads secrets of shop / production');
  expect(revocationText(token({ permission: 'read_write', ...everywhere }), names)).toMatch(
    /reads or writes secrets of the whole organization .* cannot be undone/,
  );
  expect(revocationText(token({ holder: { cluster: 'c1', namespace: 'web' } }), names)).toMatch(
    /namespace web in c1 stop reading shop \/ production.*You can reinstate/,
  );
});

test('a user administers an organization by a membership or a group, or single projects', () => {
  const bound = { organization: 'acme', project: null, environment: null, role: 'admin' };
  const none = { isAdmin: false, projects: [] };
  expect(adminOf('acme', { organizations: [{ slug: 'acme', role: 'owner' }] })).toEqual({ ...none, isAdmin: true });
  expect(adminOf('acme', { organizations: [{ slug: 'acme', role: 'developer' }] })).toEqual(none);
  expect(adminOf('acme', { organizations: [{ slug: 'other', role: 'owner' }] })).toEqual(none);
  expect(adminOf('acme', { organizations: [], rolesByPlace: [bound] })).toEqual({ ...none, isAdmin: true });
  expect(adminOf('acme', { organizations: [], rolesByPlace: [{ ...bound, organization: 'other' }] })).toEqual(none);
  const within = [
    { ...bound, project: 'shop' },
    { ...bound, project: 'shop', environment: 'staging' },
    { ...bound, project: 'ledger', environment: 'staging' },
    { ...bound, project: 'docs', role: 'viewer' },
  ];
  expect(adminOf('acme', { organizations: [], rolesByPlace: within })).toEqual({ ...none, projects: ['shop'] });
});
