import type { Action, InstanceAction, PersonAction } from './policy.ts';

/**
 * Which actions a session may do only shortly after a sign-in (docs/security-model.md, "Sessions"). Those are the actions
 * that give access which outlasts a stolen session, or that change how users sign in. Withdrawing a role, disabling a
 * user and ending sessions are never among them: they must be possible at once.
 */

/** `by_input`: some requests give lasting access and others do not. The service of the action decides. */
type NeedsRecentSignIn = 'always' | 'by_input' | 'never';

/** Each action declares it. */
export const needsRecentSignIn: Readonly<Record<Action | PersonAction | InstanceAction, NeedsRecentSignIn>> = {
  'organization.read': 'never',
  'organization.update': 'never',
  'organization.delete': 'never',
  // Not to forbid it.
  'organization.set_impersonation': 'by_input',
  'member.list': 'never',
  // Not to give a lower role.
  'member.set': 'by_input',
  'member.remove': 'never',
  'organization.list_roles': 'never',
  'organization.set_role': 'by_input',
  'organization.remove_role': 'never',
  'invitation.list': 'never',
  'invitation.create': 'always',
  'invitation.withdraw': 'never',
  'audit.list': 'never',
  'fleet.list': 'never',
  'cluster.list': 'never',
  'cluster.set_rules': 'always',
  'trusted_issuer.list': 'never',
  'project.list': 'never',
  'project.list_deleted': 'never',
  'project.create': 'never',
  'service_token.list': 'never',
  'service_token.create': 'always',
  'service_token.rotate': 'always',
  'service_token.revoke': 'never',
  'service_token.reinstate': 'always',
  'service_token.accept_issuer': 'always',
  'service_token.explain': 'never',
  'project.read': 'never',
  'project.update': 'never',
  'project.delete': 'never',
  // The roles within it count again.
  'project.undelete': 'always',
  'project.list_roles': 'never',
  'project.set_role': 'by_input',
  'project.remove_role': 'never',
  'environment.list': 'never',
  'environment.list_deleted': 'never',
  'environment.create': 'never',
  'environment.read': 'never',
  // Only to end the protection.
  'environment.update': 'by_input',
  'environment.delete': 'never',
  'environment.copy': 'never',
  'environment.undelete': 'always',
  'environment.list_roles': 'never',
  'environment.set_role': 'by_input',
  'environment.remove_role': 'never',
  'secret.list': 'never',
  'secret.read': 'never',
  'secret.write': 'never',
  'secret.delete': 'never',
  'version.list': 'never',
  'version.read': 'never',
  'version.rollback': 'never',
  'version.destroy': 'never',
  'snapshot.list': 'never',
  'snapshot.read': 'never',
  'snapshot.create': 'never',
  'snapshot.restore': 'never',
  'snapshot.delete': 'never',
  'change.list': 'never',
  'change.revert': 'never',
  'consumer.list': 'never',
  'consumer.locate': 'never',
  'personal_token.list': 'never',
  'personal_token.create': 'always',
  'personal_token.revoke': 'never',
  'session.list': 'never',
  // It takes a personal token.
  'session.create': 'never',
  'session.end': 'never',
  'login.read': 'never',
  'login.approve': 'always',
  'invitation.list_own': 'never',
  // The role is for the user, who keeps it in any case.
  'invitation.accept': 'never',
  'invitation.decline': 'never',
  'identity.list': 'never',
  'identity.link': 'always',
  'identity.unlink': 'always',
  'passkey.list': 'never',
  'passkey.create': 'always',
  'passkey.remove': 'always',
  'passkey.confirm': 'always',
  'organization.create': 'never',
  'organization.list_all': 'never',
  'organization.list_deleted': 'never',
  'organization.undelete': 'always',
  'organization.purge': 'never',
  'organization.appoint_owner': 'always',
  'project.purge': 'never',
  'environment.purge': 'never',
  'user.list': 'never',
  'user.read': 'never',
  'user.create': 'always',
  // Not to disable or demote a user, or to end sessions.
  'user.update': 'by_input',
  // Not to close it.
  'sign_in.update': 'by_input',
  'sign_in_link.create': 'always',
  'audit.list_instance': 'never',
  'cluster.list_all': 'never',
  // Who can act as the controller of a cluster reads what organizations allow it.
  'cluster.update': 'always',
  // It stops the delivery of secrets to a whole cluster.
  'cluster.disable': 'always',
  'cluster.enable': 'always',
  'cluster.forget': 'always',
  'trusted_issuer.list_all': 'never',
  // Whose keys they are can act as each service token of the issuer.
  'trusted_issuer.set': 'always',
  'trusted_issuer.delete': 'always',
};
