import { describe, expect, test } from '@jest/globals';
import { actionLevels, instanceActions, personActions } from '../../../src/domain/policy.ts';
import type { Principal } from '../../../src/domain/principal.ts';
import { needsRecentSignIn } from '../../../src/domain/recent-sign-in.ts';
import { requireRecentSignIn } from '../../../src/services/access/refusals.ts';
import { user } from './policy-principals.ts';

/** Which actions need a recent sign-in in a session. Written out, so that a change shows as a change of this table. */
const table = `
  organization.read              never
  organization.update            never
  organization.delete            never
  organization.set_impersonation by_input
  member.list                    never
  member.set                     by_input
  member.remove                  never
  organization.list_roles        never
  organization.set_role          by_input
  organization.remove_role       never
  invitation.list                never
  invitation.create              always
  invitation.withdraw            never
  audit.list                     never
  fleet.list                     never
  cluster.list                   never
  cluster.set_rules              always
  trusted_issuer.list            never
  project.list                   never
  project.list_deleted           never
  project.create                 never
  service_token.list             never
  service_token.create           always
  service_token.rotate           always
  service_token.revoke           never
  service_token.reinstate        always
  service_token.accept_issuer    always
  service_token.explain          never
  project.read                   never
  project.update                 never
  project.delete                 never
  project.undelete               always
  project.list_roles             never
  project.set_role               by_input
  project.remove_role            never
  environment.list               never
  environment.list_deleted       never
  environment.create             never
  environment.read               never
  environment.update             by_input
  environment.delete             never
  environment.copy               never
  environment.undelete           always
  environment.list_roles         never
  environment.set_role           by_input
  environment.remove_role        never
  secret.list                    never
  secret.read                    never
  secret.write                   never
  secret.delete                  never
  version.list                   never
  version.read                   never
  version.rollback               never
  version.destroy                never
  snapshot.list                  never
  snapshot.read                  never
  snapshot.create                never
  snapshot.restore               never
  snapshot.delete                never
  change.list                    never
  change.revert                  never
  consumer.list                  never
  consumer.locate                never
  personal_token.list            never
  personal_token.create          always
  personal_token.revoke          never
  session.list                   never
  session.create                 never
  session.end                    never
  login.read                     never
  login.approve                  always
  invitation.list_own            never
  invitation.accept              never
  invitation.decline             never
  identity.list                  never
  identity.link                  always
  identity.unlink                always
  passkey.list                   never
  passkey.create                 always
  passkey.remove                 always
  passkey.confirm                always
  organization.create            never
  organization.list_all          never
  organization.list_deleted      never
  organization.undelete          always
  organization.purge             never
  organization.appoint_owner     always
  project.purge                  never
  environment.purge              never
  user.list                      never
  user.read                      never
  user.create                    always
  user.update                    by_input
  sign_in.update                 by_input
  sign_in_link.create            always
  audit.list_instance            never
  cluster.list_all               never
  cluster.update                 always
  cluster.disable                always
  cluster.enable                 always
  cluster.forget                 always
  trusted_issuer.list_all        never
  trusted_issuer.set             always
  trusted_issuer.delete          always
`;

const needs = table
  .trim()
  .split('\n')
  .map((line) => line.trim().split(/ +/) as [string, string]);

describe('the need of a recent sign-in', () => {
  test('is declared for every action', () => {
    const actions = [...Object.keys(actionLevels), ...personActions, ...instanceActions];
    expect(needs.map(([action]) => action).toSorted()).toEqual(actions.toSorted());
  });

  test('is that of the table', () => {
    expect(needsRecentSignIn).toEqual(Object.fromEntries(needs));
  });

  test('is judged by a service only if the input decides', () => {
    const session = { isRecent: true, tokensEndAt: new Date(), tokenExpiresAt: null };
    const principal: Principal = { ...user(false), session };
    const caller = { principal, requestId: 'request-1', sourceAddress: null };
    expect(() => requireRecentSignIn({ caller, action: 'member.set' }, 'it')).not.toThrow();
    for (const action of ['passkey.remove', 'member.remove'] as const) {
      expect(() => requireRecentSignIn({ caller, action }, 'it')).toThrow('is decided');
    }
  });
});
