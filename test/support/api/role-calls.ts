import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/domain/principal.ts';
import type { Invited } from '../../../src/services/people/invite.ts';
import type { SetRoleBinding, SubjectRef } from '../../../src/services/people/role-bindings.ts';
import type { BoundRole } from '../../../src/store/role-bindings.ts';
import { prismaOf } from '../database/prisma.ts';
import { accept, createUser, type TestServices, type TestUser, type World } from './services.ts';
import type { Level } from './tenant-calls.ts';

/** A user with one role by place, and no membership. */
export interface BoundUser extends TestUser {
  /** The group that has the role; undefined if the user has it. */
  readonly group: string | undefined;
}

/** Roles by place in a world: calls, and users who have one past the calls. */
export class RoleCalls {
  readonly #services: TestServices;
  readonly #world: World;

  constructor(services: TestServices, world: World) {
    this.#services = services;
    this.#world = world;
  }

  async set(level: Level, caller: Caller, ref: SubjectRef, role: BoundRole): Promise<SetRoleBinding | Invited> {
    const { roleBindings } = this.#services;
    const world = this.#world;
    if (level === 'organization') {
      return roleBindings.set(await world.onOrganization(caller, 'organization.set_role'), ref, role);
    }
    if (level === 'project') return roleBindings.set(await world.onProject(caller, 'project.set_role'), ref, role);
    return roleBindings.set(await world.onEnvironment(caller, 'environment.set_role'), ref, role);
  }

  async remove(level: Level, caller: Caller, ref: SubjectRef): Promise<void> {
    const { roleBindings } = this.#services;
    const world = this.#world;
    if (level === 'organization') {
      return roleBindings.remove(await world.onOrganization(caller, 'organization.remove_role'), ref);
    }
    if (level === 'project') return roleBindings.remove(await world.onProject(caller, 'project.remove_role'), ref);
    return roleBindings.remove(await world.onEnvironment(caller, 'environment.remove_role'), ref);
  }

  /** A user who accepted a role from the owner. */
  async user(level: Exclude<Level, 'organization'>, role: BoundRole): Promise<BoundUser> {
    const user = await createUser(this.#services);
    await accept(this.#services, user, await this.set(level, this.#world.owner.caller, { id: user.id }, role));
    return { ...user, group: undefined };
  }

  /** A user of a group that the owner gave a role. */
  async member(level: Level, role: BoundRole, expiresAt?: Date): Promise<BoundUser & { readonly group: string }> {
    const user = await createUser(this.#services);
    const group = `team-${randomUUID()}`;
    await this.join(user.id, group, expiresAt);
    await this.set(level, this.#world.owner.caller, { group }, role);
    return { ...user, group };
  }

  /** Puts a user into a group, as a sign-in does; for an hour by default. */
  async join(userId: string, groupName: string, expiresAt = new Date(Date.now() + 3_600_000)): Promise<void> {
    await prismaOf(this.#services.database).groupMember.create({ data: { userId, groupName, expiresAt } });
  }
}
