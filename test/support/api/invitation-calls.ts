import type { Caller, Role } from '../../../src/domain/principal.ts';
import type { Invited } from '../../../src/services/people/invite.ts';
import type { InvitationRecord } from '../../../src/services/people/invitations.ts';
import type { BoundRole } from '../../../src/store/role-bindings.ts';
import { prismaOf } from '../database/prisma.ts';
import { RoleCalls } from './role-calls.ts';
import type { TestServices, World } from './services.ts';

type CallerOf = { readonly caller: Caller };

/** Calls about the invitations of a world. */
export class InvitationCalls {
  readonly #services: TestServices;
  readonly #world: World;

  constructor(services: TestServices, world: World) {
    this.#services = services;
    this.#world = world;
  }

  /** Invites a user, by default as the admin of the world. Fails if the role is given at once. */
  async invite(
    level: 'membership' | 'project' | 'environment',
    { id }: { readonly id: string },
    role: Role,
    by: CallerOf = this.#world.admin,
  ): Promise<InvitationRecord> {
    const given = await this.give(level, { id }, role, by);
    if ('invitation' in given) return (given as Invited).invitation;
    throw new Error('the role was given at once');
  }

  /** Gives a user a role, or invites the user. */
  async give(
    level: 'membership' | 'project' | 'environment',
    { id }: { readonly id: string },
    role: Role,
    { caller }: CallerOf,
  ): Promise<object> {
    if (level !== 'membership') {
      return new RoleCalls(this.#services, this.#world).set(level, caller, { id }, role as BoundRole);
    }
    return this.#services.members.set(await this.#world.onOrganization(caller, 'member.set'), { id }, { role });
  }

  async own({ caller }: CallerOf): Promise<readonly InvitationRecord[]> {
    const { access, invitations } = this.#services;
    return invitations.listOwn(await access.person(caller, 'invitation.list_own'));
  }

  async accept({ caller }: CallerOf, { id }: { readonly id: string }): Promise<InvitationRecord> {
    const { access, invitations } = this.#services;
    return invitations.accept(await access.person(caller, 'invitation.accept'), id);
  }

  async decline({ caller }: CallerOf, { id }: { readonly id: string }): Promise<void> {
    const { access, invitations } = this.#services;
    await invitations.decline(await access.person(caller, 'invitation.decline'), id);
  }

  /** Those of the organization, as its admin sees them. */
  async listed(): Promise<readonly InvitationRecord[]> {
    const access = await this.#world.onOrganization(this.#world.admin.caller, 'invitation.list');
    return this.#services.invitations.list(access);
  }

  async withdraw({ caller }: CallerOf, { id }: { readonly id: string }): Promise<void> {
    const access = await this.#world.onOrganization(caller, 'invitation.withdraw');
    await this.#services.invitations.withdraw(access, id);
  }

  /** Lets the time of an invitation run out. */
  async expire({ id }: { readonly id: string }): Promise<void> {
    const data = { expiresAt: new Date(Date.now() - 1000) };
    await prismaOf(this.#services.database).invitation.update({ where: { id }, data });
  }

  /** The outcome of each invitation of a user, oldest first; null for one that waits. */
  async outcomes({ id: userId }: { readonly id: string }): Promise<(string | null)[]> {
    const { invitation } = prismaOf(this.#services.database);
    const rows = await invitation.findMany({ where: { userId }, orderBy: { createdAt: 'asc' } });
    return rows.map(({ outcome }) => outcome);
  }

  /** The newest audit entry of an action in the organization. */
  async audited(action: string): Promise<object | null> {
    const where = { organizationId: this.#world.organization.id, action };
    return prismaOf(this.#services.database).auditEntry.findFirst({ where, orderBy: { id: 'desc' } });
  }
}
