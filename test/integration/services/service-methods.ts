import { randomUUID } from 'node:crypto';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import type { TestServices, World } from '../../support/api/services.ts';

interface Site {
  readonly services: TestServices;
  readonly world: World;
}

/**
 * How each method of each service is called, by its name: authorisation first, as every edge has to. For tests of
 * refusals.
 */
type Methods = Readonly<Record<string, (site: Site, caller: Caller) => Promise<unknown>>>;

const value = new Plaintext('two');

/** Those on something in an organization. */
export const targetMethods: Methods = {
  'organizations.get': async ({ services, world }, caller) =>
    services.organizations.get(await world.onOrganization(caller, 'organization.read')),
  'organizations.update': async ({ services, world }, caller) =>
    services.organizations.update(await world.onOrganization(caller, 'organization.update'), {
      displayName: 'x',
    }),
  'organizations.setImpersonation': async ({ services, world }, caller) =>
    services.organizations.setImpersonation(await world.onOrganization(caller, 'organization.set_impersonation'), true),
  'organizations.delete': async ({ services, world }, caller) =>
    services.organizations.delete(await world.onOrganization(caller, 'organization.delete')),
  'members.list': async ({ services, world }, caller) =>
    services.members.list(await world.onOrganization(caller, 'member.list')),
  'members.set': async ({ services, world }, caller) =>
    services.members.set(
      await world.onOrganization(caller, 'member.set'),
      { id: world.stranger.id },
      { role: 'viewer' },
    ),
  'members.remove': async ({ services, world }, caller) =>
    services.members.remove(await world.onOrganization(caller, 'member.remove'), {
      id: world.admin.id,
    }),
  'invitations.list': async ({ services, world }, caller) =>
    services.invitations.list(await world.onOrganization(caller, 'invitation.list')),
  'invitations.create': async ({ services, world }, caller) =>
    services.invitations.create(await world.onOrganization(caller, 'invitation.create'), {
      email: 'new@example.test',
      role: 'viewer',
    }),
  'invitations.withdraw': async ({ services, world }, caller) =>
    services.invitations.withdraw(await world.onOrganization(caller, 'invitation.withdraw'), randomUUID()),
  'projects.update': async ({ services, world }, caller) =>
    services.projects.update(await world.onProject(caller, 'project.update'), { displayName: 'x' }),
  'projects.delete': async ({ services, world }, caller) =>
    services.projects.delete(await world.onProject(caller, 'project.delete')),
  'projects.undelete': async ({ services, world }, caller) =>
    services.projects.undelete(await world.onProject(caller, 'project.undelete')),
  'environments.undelete': async ({ services, world }, caller) =>
    services.environments.undelete(await world.onEnvironment(caller, 'environment.undelete')),
  'projects.listDeleted': async ({ services, world }, caller) =>
    services.projects.listDeleted(await world.onOrganization(caller, 'project.list_deleted')),
  'environments.listDeleted': async ({ services, world }, caller) =>
    services.environments.listDeleted(await world.onProject(caller, 'environment.list_deleted')),
  'environments.update': async ({ services, world }, caller) =>
    services.environments.update(await world.onEnvironment(caller, 'environment.update'), {
      displayName: 'x',
    }),
  'environments.delete': async ({ services, world }, caller) =>
    services.environments.delete(await world.onEnvironment(caller, 'environment.delete')),
  'projects.list': async ({ services, world }, caller) =>
    services.projects.list(await world.onOrganization(caller, 'project.list')),
  'projects.listWithEnvironments': async ({ services, world }, caller) =>
    services.projects.listWithEnvironments(await world.onOrganization(caller, 'project.list')),
  'projects.create': async ({ services, world }, caller) =>
    services.projects.create(await world.onOrganization(caller, 'project.create'), { slug: 'denied' }),
  'projects.get': async ({ services, world }, caller) =>
    services.projects.get(await world.onProject(caller, 'project.read')),
  'environments.list': async ({ services, world }, caller) =>
    services.environments.list(await world.onProject(caller, 'environment.list')),
  'environments.create': async ({ services, world }, caller) =>
    services.environments.create(await world.onProject(caller, 'environment.create'), {
      slug: 'denied',
    }),
  'environments.get': async ({ services, world }, caller) =>
    services.environments.get(await world.onEnvironment(caller, 'environment.read')),
  'secrets.list': async ({ services, world }, caller) =>
    services.secrets.list(await world.onEnvironment(caller, 'secret.list')),
  'secrets.get': async ({ services, world }, caller) =>
    services.secrets.get(await world.onEnvironment(caller, 'secret.read'), 'KEY'),
  'secrets.put': async ({ services, world }, caller) =>
    services.secrets.put(await world.onEnvironment(caller, 'secret.write'), 'KEY', { value }),
  'secrets.patch': async ({ services, world }, caller) =>
    services.secrets.patch(await world.onEnvironment(caller, 'secret.write'), {
      set: new Map([['KEY', value]]),
    }),
  'secrets.delete': async ({ services, world }, caller) =>
    services.secrets.delete(await world.onEnvironment(caller, 'secret.delete'), 'KEY'),
  'secrets.listKeys': async ({ services, world }, caller) =>
    services.secrets.listKeys(await world.onEnvironment(caller, 'secret.list')),
  'secrets.listDeletedKeys': async ({ services, world }, caller) =>
    services.secrets.listDeletedKeys(await world.onEnvironment(caller, 'secret.list')),
  'secrets.revisionIdOf': async ({ services, world }, caller) =>
    services.secrets.revisionIdOf(await world.onEnvironment(caller, 'secret.list'), {}),
  'secrets.versionIdOf': async ({ services, world }, caller) =>
    services.secrets.versionIdOf(await world.onEnvironment(caller, 'secret.read'), 'KEY'),
  'secrets.auditUnchanged': async ({ services, world }, caller) =>
    services.secrets.auditUnchanged(await world.onEnvironment(caller, 'secret.read'), { key: 'KEY' }),
  'versions.list': async ({ services, world }, caller) =>
    services.versions.list(await world.onEnvironment(caller, 'version.list'), 'KEY'),
  'versions.get': async ({ services, world }, caller) =>
    services.versions.get(await world.onEnvironment(caller, 'version.read'), 'KEY', 1),
  'versions.rollback': async ({ services, world }, caller) =>
    services.versions.rollback(await world.onEnvironment(caller, 'version.rollback'), 'KEY', {
      targetVersion: 1,
    }),
  'reverts.revert': async ({ services, world }, caller) =>
    services.reverts.revert(await world.onEnvironment(caller, 'change.revert'), { reverted: 1 }),
  'reverts.plan': async ({ services, world }, caller) =>
    services.reverts.plan(await world.onEnvironment(caller, 'change.revert'), { reverted: 1 }),
  'destructions.destroy': async ({ services, world }, caller) =>
    services.destructions.destroy(await world.onEnvironment(caller, 'version.destroy'), 'KEY', { version: 1 }),
  'serviceTokens.create': async ({ services, world }, caller) =>
    services.serviceTokens.create(await world.onOrganization(caller, 'service_token.create'), {
      name: 'denied',
      scope: 'organization',
      permission: 'read',
    }),
  'serviceTokens.createOnce': async ({ services, world }, caller) =>
    services.serviceTokens.createOnce(
      await world.onOrganization(caller, 'service_token.create'),
      { name: 'denied', scope: 'organization', permission: 'read' },
      undefined,
    ),
  'serviceTokens.rotate': async ({ services, world }, caller) =>
    services.serviceTokens.rotate(await world.onOrganization(caller, 'service_token.rotate'), randomUUID()),
  'serviceTokens.reinstate': async ({ services, world }, caller) =>
    services.serviceTokens.reinstate(await world.onOrganization(caller, 'service_token.reinstate'), randomUUID()),
  'serviceTokens.list': async ({ services, world }, caller) =>
    services.serviceTokens.list(await world.onOrganization(caller, 'service_token.list')),
  'serviceTokens.get': async ({ services, world }, caller) =>
    services.serviceTokens.get(await world.onOrganization(caller, 'service_token.list'), randomUUID()),
  'serviceTokens.revoke': async ({ services, world }, caller) =>
    services.serviceTokens.revoke(await world.onOrganization(caller, 'service_token.revoke'), randomUUID()),
};

/** Those for instance admins, whose target every caller may see. */
export const instanceMethods: Methods = {
  'identities.listOfUser': async ({ services, world }, caller) =>
    services.identities.listOfUser(await services.access.instance(caller, 'user.read'), world.viewer.id),
  'identities.unlinkOfUser': async ({ services, world }, caller) =>
    services.identities.unlinkOfUser(
      await services.access.instance(caller, 'user.update'),
      world.viewer.id,
      randomUUID(),
    ),
  'passkeys.listOfUser': async ({ services, world }, caller) =>
    services.passkeys.listOfUser(await services.access.instance(caller, 'user.read'), world.viewer.id),
  'passkeys.removeOfUser': async ({ services, world }, caller) =>
    services.passkeys.removeOfUser(
      await services.access.instance(caller, 'user.update'),
      world.viewer.id,
      randomUUID(),
    ),
  'passkeys.confirmOfUser': async ({ services, world }, caller) =>
    services.passkeys.confirmOfUser(
      await services.access.instance(caller, 'user.update'),
      world.viewer.id,
      randomUUID(),
    ),
  'organizations.create': async ({ services }, caller) =>
    services.organizations.create(await services.access.instance(caller, 'organization.create'), {
      slug: 'denied',
    }),
  'members.appointOwner': async ({ services, world }, caller) =>
    services.members.appointOwner(await services.access.instance(caller, 'organization.appoint_owner'), world.slugs, {
      id: world.stranger.id,
    }),
  'organizations.listAll': async ({ services }, caller) =>
    services.organizations.listAll(await services.access.instance(caller, 'organization.list_all')),
  'organizations.listDeleted': async ({ services }, caller) =>
    services.organizations.listDeleted(await services.access.instance(caller, 'organization.list_deleted')),
  'organizations.undelete': async ({ services, world }, caller) =>
    services.organizations.undelete(await services.access.instance(caller, 'organization.undelete'), world.slugs),
  'organizations.purge': async ({ services, world }, caller) =>
    services.organizations.purge(await services.access.instance(caller, 'organization.purge'), world.slugs),
  'projects.purge': async ({ services, world }, caller) =>
    services.projects.purge(await services.access.instance(caller, 'project.purge'), world.slugs),
  'environments.purge': async ({ services, world }, caller) =>
    services.environments.purge(await services.access.instance(caller, 'environment.purge'), world.slugs),
  'signIn.setOpen': async ({ services }, caller) =>
    services.signIn.setOpen(await services.access.instance(caller, 'sign_in.update'), true),
  'users.list': async ({ services }, caller) =>
    services.users.list(await services.access.instance(caller, 'user.list')),
  'users.get': async ({ services, world }, caller) =>
    services.users.get(await services.access.instance(caller, 'user.read'), world.viewer.id),
  'users.create': async ({ services }, caller) =>
    services.users.create(await services.access.instance(caller, 'user.create'), {
      email: 'denied@example.test',
    }),
  'users.update': async ({ services, world }, caller) =>
    services.users.update(await services.access.instance(caller, 'user.update'), world.viewer.id, { disabled: true }),
  'users.createToken': async ({ services, world }, caller) =>
    services.users.createToken(await services.access.instance(caller, 'user.update'), world.viewer.id, { name: 'x' }),
  'users.createLink': async ({ services, world }, caller) =>
    services.users.createLink(await services.access.instance(caller, 'sign_in_link.create'), world.viewer.id),
  'users.endTokens': async ({ services, world }, caller) =>
    services.users.endTokens(await services.access.instance(caller, 'user.update'), world.viewer.id),
};

/** Those for every person, and for no service token. */
export const personMethods: Methods = {
  'identities.list': async ({ services }, caller) =>
    services.identities.list(await services.access.person(caller, 'identity.list')),
  'identities.unlink': async ({ services }, caller) =>
    services.identities.unlink(await services.access.person(caller, 'identity.unlink'), randomUUID()),
  'passkeys.list': async ({ services }, caller) =>
    services.passkeys.list(await services.access.person(caller, 'passkey.list')),
  'passkeys.start': async ({ services }, caller) =>
    services.passkeys.start(await services.access.person(caller, 'passkey.create')),
  'passkeys.register': async ({ services }, caller) =>
    services.passkeys.register(await services.access.person(caller, 'passkey.create'), {
      name: 'x',
      response: { id: 'AAAA', response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' } },
      cookie: undefined,
    }),
  'passkeys.remove': async ({ services }, caller) =>
    services.passkeys.remove(await services.access.person(caller, 'passkey.remove'), randomUUID()),
  'passkeys.confirm': async ({ services }, caller) =>
    services.passkeys.confirm(await services.access.person(caller, 'passkey.confirm'), randomUUID()),
  'personalTokens.list': async ({ services }, caller) =>
    services.personalTokens.list(await services.access.person(caller, 'personal_token.list')),
  'personalTokens.create': async ({ services }, caller) =>
    services.personalTokens.create(await services.access.person(caller, 'personal_token.create'), {
      name: 'x',
    }),
  'personalTokens.revoke': async ({ services }, caller) =>
    services.personalTokens.revoke(await services.access.person(caller, 'personal_token.revoke'), randomUUID()),
  'invitations.listOwn': async ({ services }, caller) =>
    services.invitations.listOwn(await services.access.person(caller, 'invitation.list_own')),
  'invitations.accept': async ({ services }, caller) =>
    services.invitations.accept(await services.access.person(caller, 'invitation.accept'), randomUUID()),
  'invitations.decline': async ({ services }, caller) =>
    services.invitations.decline(await services.access.person(caller, 'invitation.decline'), randomUUID()),
};
