import { randomUUID } from 'node:crypto';
import type { BoundRole } from '../../../../src/store/role-bindings.ts';
import type { TestApi } from '../../../support/api/http.ts';
import { type TestUser, createUser } from '../../../support/api/services.ts';
import { prismaOf } from '../../../support/database/prisma.ts';
import type { ActorName } from './actors.ts';
import type { Place } from './places.ts';

export type Level = 'organization' | 'project' | 'environment';

interface BoundRoleOf {
  readonly level: Level;
  readonly role: BoundRole;
}

/** The users who have a role by a role binding of their own, at a place of this level. */
const bindings: Readonly<Partial<Record<ActorName, BoundRoleOf>>> = {
  'project-admin': { level: 'project', role: 'admin' },
  'project-developer': { level: 'project', role: 'developer' },
  'project-viewer': { level: 'project', role: 'viewer' },
  'environment-admin': { level: 'environment', role: 'admin' },
  'environment-developer': { level: 'environment', role: 'developer' },
  'environment-viewer': { level: 'environment', role: 'viewer' },
};

/**
 * The users who have a role by a group only, one role for each level. A binding of a group differs from one of a user in
 * where it is found, not in what it gives, so that the other roles would repeat the columns above. The widest level has
 * the highest role: there a mistake gives the most.
 */
const groups: Readonly<Partial<Record<ActorName, BoundRoleOf & { readonly group: string }>>> = {
  'organization-group': { level: 'organization', role: 'admin', group: 'directors' },
  'project-group': { level: 'project', role: 'developer', group: 'builders' },
  'environment-group': { level: 'environment', role: 'viewer', group: 'watchers' },
};

const hourMs = 3_600_000;

/** Users who are not members, and have roles by place: each at every place of its level that `bind` is called with. */
export class RoleHolders {
  readonly users: ReadonlyMap<ActorName, TestUser>;
  readonly #api: TestApi;
  readonly #bound = new Set<string>();

  private constructor(api: TestApi, users: ReadonlyMap<ActorName, TestUser>) {
    this.#api = api;
    this.users = users;
  }

  static async make(api: TestApi): Promise<RoleHolders> {
    const names = [...Object.keys(bindings), ...Object.keys(groups), 'former-group'] as ActorName[];
    const users = new Map<ActorName, TestUser>();
    for (const name of names) users.set(name, await createUser(api.services));
    const holders = new RoleHolders(api, users);
    for (const [name, { group }] of Object.entries(groups)) {
      await holders.join(group, holders.#idOf(name));
      // Was in all of them, and signed in for the last time too long ago.
      await holders.join(group, holders.#idOf('former-group'), -1);
    }
    return holders;
  }

  /** Gives the users and groups of a level their roles at the organization, project or environment of the place. */
  async bind(place: Place, level: Level): Promise<void> {
    const subjects = [
      ...Object.entries(bindings).map(([name, bound]) => ({ ...bound, userId: this.#idOf(name) })),
      ...Object.entries(groups).map(([, { group: groupName, ...bound }]) => ({ ...bound, groupName })),
    ];
    const data = subjects
      .filter((bound) => bound.level === level)
      .map(({ level: _level, ...bound }) => ({ id: randomUUID(), ...idsOf(place, level), ...bound }));
    await prismaOf(this.#api.services.database).roleBinding.createMany({ data });
    this.#bound.add(keyOf(place, level));
  }

  /** Gives them the same roles at a place as they have at another one of the same level. */
  async bindAlike(like: Place, place: Place, level: Level): Promise<void> {
    if (this.#bound.has(keyOf(like, level))) await this.bind(place, level);
  }

  /** Puts a user into a group, as a sign-in does. */
  async join(groupName: string, userId: string, lifetimeMs = hourMs): Promise<void> {
    const data = { userId, groupName, expiresAt: new Date(Date.now() + lifetimeMs) };
    await prismaOf(this.#api.services.database).groupMember.create({ data });
  }

  #idOf(name: string): string {
    const user = this.users.get(name as ActorName);
    if (user === undefined) throw new Error(`there is no user ${name}`);
    return user.id;
  }
}

/** The ids that a role binding has at the organization, project or environment of a place. */
export function idsOf({ organizationId, projectId, environmentId }: Place, level: Level): PlaceIds {
  if (level === 'organization') return { organizationId };
  return level === 'project' ? { organizationId, projectId } : { organizationId, projectId, environmentId };
}

function keyOf(place: Place, level: Level): string {
  return JSON.stringify(idsOf(place, level));
}

interface PlaceIds {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
}
