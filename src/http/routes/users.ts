import type { UserRecord } from '../../services/people/users.ts';
import {
  createUser,
  createUserPersonalToken,
  getUser,
  listUsers,
  revokeUserPersonalTokens,
  updateUser,
} from '../../wire/contract/users.ts';
import type { UserView } from '../../wire/users.ts';
import { type Route, instanceRoute } from '../route.ts';
import { personalTokenViewOf } from './personal-tokens.ts';

/** docs/interface.md 4, "Further routes" */
export const userRoutes: readonly Route[] = [
  instanceRoute({
    ...listUsers,
    action: 'user.list',
    async handle({ users }, access, { query }) {
      const list = await users.list(access, query);
      return { status: 200, body: { users: list.users.map(viewOf), nextCursor: list.nextCursor } };
    },
  }),
  instanceRoute({
    ...createUser,
    action: 'user.create',
    async handle({ users }, access, { body }) {
      const { user, token } = await users.create(access, body);
      return {
        status: 201,
        body: { ...viewOf(user), token: token.reveal() },
        location: `/api/v1/users/${user.id}`,
      };
    },
  }),
  instanceRoute({
    ...getUser,
    action: 'user.read',
    async handle({ users }, access, { params }) {
      return { status: 200, body: viewOf(await users.get(access, params.id)) };
    },
  }),
  instanceRoute({
    ...updateUser,
    action: 'user.update',
    async handle({ users }, access, { params, body }) {
      return { status: 200, body: viewOf(await users.update(access, params.id, body)) };
    },
  }),
  instanceRoute({
    ...createUserPersonalToken,
    action: 'user.update',
    async handle({ users }, access, { params, body }) {
      const { record, token } = await users.createToken(access, params.id, body);
      return { status: 201, body: { ...personalTokenViewOf(record), token: token.reveal() } };
    },
  }),
  instanceRoute({
    ...revokeUserPersonalTokens,
    action: 'user.update',
    async handle({ users }, access, { params }) {
      await users.endTokens(access, params.id);
      return { status: 204 };
    },
  }),
];

function viewOf({ createdAt, disabledAt, ...user }: UserRecord): UserView {
  return { ...user, createdAt: createdAt.toISOString(), disabledAt: disabledAt?.toISOString() ?? null };
}
