import { describe, expect, test } from '@jest/globals';
import {
  type Action,
  actionLevels,
  decide,
  type HeldRole,
  type PolicyTarget,
  rules,
} from '../../../src/domain/policy.ts';
import type { TokenPermission } from '../../../src/domain/grants.ts';
import type { TokenScope } from '../../../src/domain/principal.ts';
import { keylessToken, organizationId, serviceToken, user } from './policy-principals.ts';

/**
 * What people may do, cell by cell; `beneath` is a user who has roles only at places within the target. Written out so
 * that a change of the policy shows as a change of this table; an action, role, scope or permission without its cells
 * fails the tests below.
 */
const peopleTable = `
  action                         owner   admin   developer viewer  beneath stranger
  organization.read              allowed allowed allowed   allowed allowed hidden
  project.list                   allowed allowed allowed   allowed allowed hidden
  project.list_deleted           allowed allowed denied    denied  denied  hidden
  project.create                 allowed allowed denied    denied  denied  hidden
  service_token.list             allowed allowed denied    denied  denied  hidden
  service_token.create           allowed allowed denied    denied  denied  hidden
  service_token.revoke           allowed allowed denied    denied  denied  hidden
  project.read                   allowed allowed allowed   allowed allowed hidden
  environment.list               allowed allowed allowed   allowed allowed hidden
  environment.list_deleted       allowed allowed denied    denied  denied  hidden
  environment.create             allowed allowed denied    denied  denied  hidden
  environment.read               allowed allowed allowed   allowed denied  hidden
  secret.list                    allowed allowed allowed   allowed denied  hidden
  secret.read                    allowed allowed allowed   allowed denied  hidden
  secret.write                   allowed allowed allowed   denied  denied  hidden
  secret.delete                  allowed allowed allowed   denied  denied  hidden
  version.list                   allowed allowed allowed   allowed denied  hidden
  version.read                   allowed allowed allowed   allowed denied  hidden
  version.rollback               allowed allowed allowed   denied  denied  hidden
  version.destroy                allowed allowed denied    denied  denied  hidden
  organization.update            allowed allowed denied    denied  denied  hidden
  organization.delete            allowed denied  denied    denied  denied  hidden
  organization.set_impersonation allowed denied  denied    denied  denied  hidden
  member.list                    allowed allowed allowed   allowed denied  hidden
  member.set                     allowed allowed denied    denied  denied  hidden
  member.remove                  allowed allowed allowed   allowed denied  hidden
  audit.list                     allowed allowed denied    denied  denied  hidden
  service_token.rotate           allowed allowed denied    denied  denied  hidden
  service_token.reinstate        allowed allowed denied    denied  denied  hidden
  service_token.accept_issuer    allowed allowed denied    denied  denied  hidden
  service_token.explain          allowed allowed denied    denied  denied  hidden
  project.update                 allowed allowed denied    denied  denied  hidden
  project.delete                 allowed allowed denied    denied  denied  hidden
  project.undelete               allowed allowed denied    denied  denied  hidden
  environment.update             allowed allowed denied    denied  denied  hidden
  environment.delete             allowed allowed denied    denied  denied  hidden
  environment.copy               allowed allowed allowed   denied  denied  hidden
  environment.undelete           allowed allowed denied    denied  denied  hidden
  snapshot.list                  allowed allowed allowed   allowed denied  hidden
  snapshot.read                  allowed allowed allowed   allowed denied  hidden
  snapshot.create                allowed allowed allowed   denied  denied  hidden
  snapshot.restore               allowed allowed allowed   denied  denied  hidden
  snapshot.delete                allowed allowed denied    denied  denied  hidden
  change.list                    allowed allowed allowed   allowed denied  hidden
  change.revert                  allowed allowed allowed   denied  denied  hidden
  consumer.list                  allowed allowed allowed   allowed denied  hidden
  consumer.locate                allowed allowed allowed   denied  denied  hidden
  fleet.list                     allowed allowed allowed   allowed allowed hidden
  cluster.list                   allowed allowed denied    denied  denied  hidden
  cluster.set_rules              allowed allowed denied    denied  denied  hidden
  trusted_issuer.list            allowed allowed denied    denied  denied  hidden
  organization.list_roles        allowed allowed allowed   allowed denied  hidden
  organization.set_role          allowed allowed denied    denied  denied  hidden
  organization.remove_role       allowed allowed denied    denied  denied  hidden
  invitation.list                allowed allowed denied    denied  denied  hidden
  invitation.create              allowed allowed denied    denied  denied  hidden
  invitation.withdraw            allowed allowed denied    denied  denied  hidden
  project.list_roles             allowed allowed allowed   allowed denied  hidden
  project.set_role               allowed allowed denied    denied  denied  hidden
  project.remove_role            allowed allowed allowed   allowed denied  hidden
  environment.list_roles         allowed allowed allowed   allowed denied  hidden
  environment.set_role           allowed allowed denied    denied  denied  hidden
  environment.remove_role        allowed allowed allowed   allowed denied  hidden
`;

/**
 * What service tokens may do. The target `own` is the token's scope itself or, at a higher level, the scope's own
 * ancestor; `sibling` is the nearest thing beside it, `foreign` lies in another organization.
 */
const tokenTable = `
                                              organization    project         environment
  action               target                read    write   read    write   read    write
  organization.read    own                   allowed allowed allowed allowed allowed allowed
  organization.read    foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  project.list         own                   allowed allowed allowed allowed allowed allowed
  project.list         foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  project.create       own                   denied  denied  denied  denied  denied  denied
  project.create       foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  service_token.list   own                   denied  denied  denied  denied  denied  denied
  service_token.list   foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  service_token.create own                   denied  denied  denied  denied  denied  denied
  service_token.create foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  service_token.revoke own                   denied  denied  denied  denied  denied  denied
  service_token.revoke foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  project.read         own                   allowed allowed allowed allowed allowed allowed
  project.read         sibling-project       allowed allowed hidden  hidden  hidden  hidden
  project.read         foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  environment.list     own                   allowed allowed allowed allowed allowed allowed
  environment.list     sibling-project       allowed allowed hidden  hidden  hidden  hidden
  environment.list     foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  environment.create   own                   denied  denied  denied  denied  denied  denied
  environment.create   sibling-project       denied  denied  hidden  hidden  hidden  hidden
  environment.create   foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  environment.read     own                   allowed allowed allowed allowed allowed allowed
  environment.read     sibling-environment   allowed allowed allowed allowed hidden  hidden
  environment.read     sibling-project       allowed allowed hidden  hidden  hidden  hidden
  environment.read     foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  secret.list          own                   allowed allowed allowed allowed allowed allowed
  secret.list          sibling-environment   allowed allowed allowed allowed hidden  hidden
  secret.list          sibling-project       allowed allowed hidden  hidden  hidden  hidden
  secret.list          foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  secret.read          own                   allowed allowed allowed allowed allowed allowed
  secret.read          sibling-environment   allowed allowed allowed allowed hidden  hidden
  secret.read          sibling-project       allowed allowed hidden  hidden  hidden  hidden
  secret.read          foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  secret.write         own                   denied  allowed denied  allowed denied  allowed
  secret.write         sibling-environment   denied  allowed denied  allowed hidden  hidden
  secret.write         sibling-project       denied  allowed hidden  hidden  hidden  hidden
  secret.write         foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  secret.delete        own                   denied  allowed denied  allowed denied  allowed
  secret.delete        sibling-environment   denied  allowed denied  allowed hidden  hidden
  secret.delete        sibling-project       denied  allowed hidden  hidden  hidden  hidden
  secret.delete        foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  version.list         own                   allowed allowed allowed allowed allowed allowed
  version.list         sibling-environment   allowed allowed allowed allowed hidden  hidden
  version.list         sibling-project       allowed allowed hidden  hidden  hidden  hidden
  version.list         foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  version.read         own                   allowed allowed allowed allowed allowed allowed
  version.read         sibling-environment   allowed allowed allowed allowed hidden  hidden
  version.read         sibling-project       allowed allowed hidden  hidden  hidden  hidden
  version.read         foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  version.rollback     own                   denied  allowed denied  allowed denied  allowed
  version.rollback     sibling-environment   denied  allowed denied  allowed hidden  hidden
  version.rollback     sibling-project       denied  allowed hidden  hidden  hidden  hidden
  version.rollback     foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  version.destroy      own                   denied  denied  denied  denied  denied  denied
  version.destroy      sibling-environment   denied  denied  denied  denied  hidden  hidden
  version.destroy      sibling-project       denied  denied  hidden  hidden  hidden  hidden
  version.destroy      foreign-organization  hidden  hidden  hidden  hidden  hidden  hidden
  organization.update  own                  denied  denied  denied  denied  denied  denied
  organization.update  foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  organization.delete  own                  denied  denied  denied  denied  denied  denied
  organization.delete  foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  organization.set_impersonation own        denied  denied  denied  denied  denied  denied
  organization.set_impersonation foreign-organization hidden hidden hidden hidden hidden hidden
  member.list          own                  denied  denied  denied  denied  denied  denied
  member.list          foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  member.set           own                  denied  denied  denied  denied  denied  denied
  member.set           foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  member.remove        own                  denied  denied  denied  denied  denied  denied
  member.remove        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  audit.list           own                  denied  denied  denied  denied  denied  denied
  audit.list           foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  service_token.reinstate own               denied  denied  denied  denied  denied  denied
  service_token.reinstate foreign-organization hidden hidden hidden hidden hidden hidden
  service_token.accept_issuer own               denied  denied  denied  denied  denied  denied
  service_token.accept_issuer foreign-organization hidden hidden hidden hidden hidden hidden
  service_token.explain own               denied  denied  denied  denied  denied  denied
  service_token.explain foreign-organization hidden hidden hidden hidden hidden hidden
  service_token.rotate own                  denied  denied  denied  denied  denied  denied
  service_token.rotate foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.update       own                  denied  denied  denied  denied  denied  denied
  project.update       sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.update       foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.delete       own                  denied  denied  denied  denied  denied  denied
  project.delete       sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.delete       foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.undelete     own                  denied  denied  denied  denied  denied  denied
  project.undelete     sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.undelete     foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.list_deleted own                  denied  denied  denied  denied  denied  denied
  project.list_deleted foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.list_deleted own              denied  denied  denied  denied  denied  denied
  environment.list_deleted sibling-project  denied  denied  hidden  hidden  hidden  hidden
  environment.list_deleted foreign-organization hidden hidden hidden hidden hidden hidden
  environment.update   own                  denied  denied  denied  denied  denied  denied
  environment.update   sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.update   sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.update   foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.delete   own                  denied  denied  denied  denied  denied  denied
  environment.delete   sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.delete   sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.delete   foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.copy     own                  denied  allowed denied  allowed denied  allowed
  environment.copy     sibling-environment  denied  allowed denied  allowed hidden  hidden
  environment.copy     sibling-project      denied  allowed hidden  hidden  hidden  hidden
  environment.copy     foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.undelete own                  denied  denied  denied  denied  denied  denied
  environment.undelete sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.undelete sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.undelete foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  snapshot.list        own                  allowed allowed allowed allowed allowed allowed
  snapshot.list        sibling-environment  allowed allowed allowed allowed hidden  hidden
  snapshot.list        sibling-project      allowed allowed hidden  hidden  hidden  hidden
  snapshot.list        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  snapshot.read        own                  allowed allowed allowed allowed allowed allowed
  snapshot.read        sibling-environment  allowed allowed allowed allowed hidden  hidden
  snapshot.read        sibling-project      allowed allowed hidden  hidden  hidden  hidden
  snapshot.read        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  snapshot.create      own                  denied  allowed denied  allowed denied  allowed
  snapshot.create      sibling-environment  denied  allowed denied  allowed hidden  hidden
  snapshot.create      sibling-project      denied  allowed hidden  hidden  hidden  hidden
  snapshot.create      foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  snapshot.restore     own                  denied  allowed denied  allowed denied  allowed
  snapshot.restore     sibling-environment  denied  allowed denied  allowed hidden  hidden
  snapshot.restore     sibling-project      denied  allowed hidden  hidden  hidden  hidden
  snapshot.restore     foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  change.revert        own                  denied  allowed denied  allowed denied  allowed
  change.revert        sibling-environment  denied  allowed denied  allowed hidden  hidden
  change.revert        sibling-project      denied  allowed hidden  hidden  hidden  hidden
  change.revert        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  consumer.list        own                  allowed allowed allowed allowed allowed allowed
  consumer.list        sibling-environment  allowed allowed allowed allowed hidden  hidden
  consumer.list        sibling-project      allowed allowed hidden  hidden  hidden  hidden
  consumer.list        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  consumer.locate      own                  denied  allowed denied  allowed denied  allowed
  consumer.locate      sibling-environment  denied  allowed denied  allowed hidden  hidden
  consumer.locate      sibling-project      denied  allowed hidden  hidden  hidden  hidden
  consumer.locate      foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  cluster.list               own                  denied  denied  denied  denied  denied  denied
  cluster.list               foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  cluster.set_rules          own                  denied  denied  denied  denied  denied  denied
  cluster.set_rules          foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  trusted_issuer.list        own                  denied  denied  denied  denied  denied  denied
  trusted_issuer.list        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  fleet.list           own                  allowed allowed allowed allowed allowed allowed
  fleet.list           foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  snapshot.delete      own                  denied  denied  denied  denied  denied  denied
  snapshot.delete      sibling-environment  denied  denied  denied  denied  hidden  hidden
  snapshot.delete      sibling-project      denied  denied  hidden  hidden  hidden  hidden
  snapshot.delete      foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  change.list          own                  allowed allowed allowed allowed allowed allowed
  change.list          sibling-environment  allowed allowed allowed allowed hidden  hidden
  change.list          sibling-project      allowed allowed hidden  hidden  hidden  hidden
  change.list          foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  organization.list_roles    own                  denied  denied  denied  denied  denied  denied
  organization.list_roles    foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  organization.set_role      own                  denied  denied  denied  denied  denied  denied
  organization.set_role      foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  organization.remove_role   own                  denied  denied  denied  denied  denied  denied
  organization.remove_role   foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  invitation.list            own                  denied  denied  denied  denied  denied  denied
  invitation.list            foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  invitation.create          own                  denied  denied  denied  denied  denied  denied
  invitation.create          foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  invitation.withdraw        own                  denied  denied  denied  denied  denied  denied
  invitation.withdraw        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.list_roles         own                  denied  denied  denied  denied  denied  denied
  project.list_roles         sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.list_roles         foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.set_role           own                  denied  denied  denied  denied  denied  denied
  project.set_role           sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.set_role           foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  project.remove_role        own                  denied  denied  denied  denied  denied  denied
  project.remove_role        sibling-project      denied  denied  hidden  hidden  hidden  hidden
  project.remove_role        foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.list_roles     own                  denied  denied  denied  denied  denied  denied
  environment.list_roles     sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.list_roles     sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.list_roles     foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.set_role       own                  denied  denied  denied  denied  denied  denied
  environment.set_role       sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.set_role       sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.set_role       foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
  environment.remove_role    own                  denied  denied  denied  denied  denied  denied
  environment.remove_role    sibling-environment  denied  denied  denied  denied  hidden  hidden
  environment.remove_role    sibling-project      denied  denied  hidden  hidden  hidden  hidden
  environment.remove_role    foreign-organization hidden  hidden  hidden  hidden  hidden  hidden
`;

const targets: Record<string, PolicyTarget> = {
  own: { organizationId, projectId: 'project-1', environmentId: 'environment-1' },
  'sibling-environment': { organizationId, projectId: 'project-1', environmentId: 'environment-2' },
  'sibling-project': { organizationId, projectId: 'project-2', environmentId: 'environment-3' },
  'foreign-organization': { organizationId: 'organization-2', projectId: 'project-1', environmentId: 'environment-1' },
};
const relationsOfLevel = {
  organization: ['own', 'foreign-organization'],
  project: ['own', 'sibling-project', 'foreign-organization'],
  environment: ['own', 'sibling-environment', 'sibling-project', 'foreign-organization'],
} as const;

const scopes: readonly TokenScope[] = ['organization', 'project', 'environment'];
const permissions: readonly TokenPermission[] = ['read', 'read_write'];
const actions = Object.keys(actionLevels) as Action[];

/** The target cut off at an action's level: what the services pass to the policy. */
function targetAt(action: Action, relation: string): PolicyTarget {
  const target = targets[relation];
  if (target === undefined) throw new Error(`no target ${relation}`);
  const { projectId = '', environmentId = '' } = target;
  const level = actionLevels[action];
  if (level === 'organization') return { organizationId: target.organizationId };
  if (level === 'project') return { organizationId: target.organizationId, projectId };
  return { organizationId: target.organizationId, projectId, environmentId };
}

/** The lines of a table as cells, without the head. */
function rowsOf(table: string, headLines: number): string[][] {
  const lines = table.split('\n').filter((line) => line.trim() !== '');
  return lines.slice(headLines).map((line) => line.trim().split(/\s+/));
}

describe('policy for people', () => {
  const rows = rowsOf(peopleTable, 1);
  const roles: readonly HeldRole[] = ['owner', 'admin', 'developer', 'viewer', 'beneath', null];

  test('the table has exactly one row for every action of the policy', () => {
    expect(rows.map(([action = '']) => action).sort()).toEqual([...actions].sort());
    expect(Object.keys(rules).sort()).toEqual([...actions].sort());
  });

  test.each(rows)(
    '%s: owner %s, admin %s, developer %s, viewer %s, beneath %s, stranger %s',
    (action, ...decisions) => {
      const target = targetAt(action as Action, 'own');
      expect(roles.map((role) => decide(user(false), role, action as Action, target))).toEqual(decisions);
    },
  );

  test.each(rows)('%s: an instance admin has no more than their role gives', (action, ...decisions) => {
    const target = targetAt(action as Action, 'own');
    expect(roles.map((role) => decide(user(true), role, action as Action, target))).toEqual(decisions);
  });
});

describe('policy for service tokens', () => {
  const rows = rowsOf(tokenTable, 2);
  const columns = scopes.flatMap((scope) => permissions.map((permission) => serviceToken(scope, permission)));

  test('the table has exactly one row for every action and every target of its level', () => {
    const wanted = actions.flatMap((action) =>
      relationsOfLevel[actionLevels[action]].map((relation) => `${action} ${relation}`),
    );
    expect(rows.map(([action, relation]) => `${action} ${relation}`).sort()).toEqual(wanted.sort());
  });

  test.each(rows)('%s on %s', (action = '', relation = '', ...decisions) => {
    const target = targetAt(action as Action, relation);
    expect(columns.map((principal) => decide(principal, null, action as Action, target))).toEqual(decisions);
  });

  test.each(rows)(
    '%s on %s: a role in the organization would not change it',
    (action = '', relation = '', ...decisions) => {
      const target = targetAt(action as Action, relation);
      expect(columns.map((principal) => decide(principal, 'owner', action as Action, target))).toEqual(decisions);
    },
  );
});

describe('policy for keyless tokens', () => {
  const cells = actions.flatMap((action) =>
    relationsOfLevel[actionLevels[action]].map((relation) => [action, relation] as const),
  );

  test.each(cells)('%s on %s: reading the secrets of its environment is all that one allows', (action, relation) => {
    const isVisible =
      decide(serviceToken('environment', 'read'), null, action, targetAt(action, relation)) !== 'hidden';
    const seen = action === 'secret.list' ? 'allowed' : 'denied';
    const expected = isVisible ? seen : 'hidden';
    for (const role of [null, 'owner'] as const) {
      expect(decide(keylessToken, role, action, targetAt(action, relation))).toBe(expected);
    }
  });

  test('secret.list is allowed in its own environment alone', () => {
    const allowed = cells.filter(
      ([action, relation]) => decide(keylessToken, null, action, targetAt(action, relation)) === 'allowed',
    );
    expect(allowed).toEqual([['secret.list', 'own']]);
  });
});

describe('setting and deleting secrets', () => {
  test('need the same right, because one PATCH does both', () => {
    expect(rules['secret.delete']).toEqual(rules['secret.write']);
  });
});
