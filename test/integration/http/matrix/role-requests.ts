import { freshSlug } from './places.ts';
import type { Prepare, Prepared, Wanted } from './prepare.ts';
import type { Level } from './role-holders.ts';

/** The requests about roles by place, of users and of groups. */

const viewer = { body: { role: 'viewer' } } as const;

function group(name = freshSlug('group')): Pick<Prepared, 'params'> {
  return { params: { subject: `group:${name}` } };
}

function user(id: string): Pick<Prepared, 'params'> {
  return { params: { subject: id } };
}

/** A user who has no role at all. */
const newUser: Prepare = async ({ founder, succeeds }) =>
  user((succeeds ? await founder.user() : founder.bystander).id);

/** A member, who has no role by place. */
const member: Prepare = async ({ founder, place, succeeds }) => {
  if (!succeeds) return user(founder.bystander.id);
  const { id } = await founder.user();
  await founder.enrol(place.organizationId, id, 'viewer');
  return user(id);
};

/** A user or a group who has the role of a developer at the place. */
function holder(level: Level, kind: 'user' | 'group'): Prepare {
  return async ({ founder, place }) => {
    const role = 'developer';
    if (kind === 'user') {
      const { id: userId } = await founder.user();
      await founder.bind(place, level, { userId, role });
      return user(userId);
    }
    const groupName = freshSlug('group');
    await founder.bind(place, level, { groupName, role });
    return group(groupName);
  };
}

/** A group that the caller is in. */
const ownGroup = async ({ founder, actor }: Wanted): Promise<string> =>
  actor.isUser ? founder.group(actor.id) : freshSlug('group');

/** The caller, with a role of their own at a new place. */
function self(level: 'project' | 'environment', role: 'admin' | 'viewer'): Prepare {
  return async ({ founder, place: within, actor, succeeds }) => {
    if (!succeeds) return user(actor.id);
    const place = await (level === 'project' ? founder.project(within) : founder.environment(within));
    await founder.bind(place, level, { userId: actor.id, role });
    return { place, ...user(actor.id) };
  };
}

/** To give or change the role of a viewer. */
function put(subject: Prepare): Prepare {
  return async (wanted) => ({ ...(await subject(wanted)), ...viewer });
}

function requestsAt(path: string, level: 'project' | 'environment'): Readonly<Record<string, Prepare>> {
  return {
    [`GET ${path}`]: () => ({}),
    [`PUT ${path}/{subject}`]: put(newUser),
    [`PUT ${path}/{subject} [a_member]`]: put(member),
    [`PUT ${path}/{subject} [a_group]`]: put(() => group()),
    [`PUT ${path}/{subject} [changed]`]: put(holder(level, 'user')),
    [`PUT ${path}/{subject} [oneself]`]: ({ actor }) => ({ ...user(actor.id), body: { role: 'admin' } }),
    [`PUT ${path}/{subject} [lowered]`]: put(self(level, 'admin')),
    [`PUT ${path}/{subject} [own_group]`]: put(async (wanted) => group(await ownGroup(wanted))),
    [`DELETE ${path}/{subject}`]: self(level, 'viewer'),
    [`DELETE ${path}/{subject} [another]`]: holder(level, 'user'),
    [`DELETE ${path}/{subject} [a_group]`]: holder(level, 'group'),
  };
}

const organization = '/organizations/{org}/roles';

export const rolePreparations: Readonly<Record<string, Prepare>> = {
  [`GET ${organization}`]: () => ({}),
  [`PUT ${organization}/{subject}`]: put(() => group()),
  [`PUT ${organization}/{subject} [changed]`]: put(holder('organization', 'group')),
  [`PUT ${organization}/{subject} [own_group]`]: put(async (wanted) => group(await ownGroup(wanted))),
  [`PUT ${organization}/{subject} [own_group_lowered]`]: put(async (wanted) => {
    if (!wanted.succeeds) return group();
    const groupName = await ownGroup(wanted);
    await wanted.founder.bind(wanted.place, 'organization', { groupName, role: 'developer' });
    return group(groupName);
  }),
  [`PUT ${organization}/{subject} [a_user]`]: put(newUser),
  [`DELETE ${organization}/{subject}`]: holder('organization', 'group'),
  ...requestsAt('/projects/{org}/{project}/roles', 'project'),
  ...requestsAt('/environments/{org}/{project}/{env}/roles', 'environment'),
};
