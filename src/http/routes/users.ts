import type { UserRecord } from '../../services/people/users.ts';
import { pageQuery } from '../../wire/page.ts';
import { createPersonalTokenBody, createdPersonalTokenView } from '../../wire/personal-tokens.ts';
import {
  type UserView,
  createUserBody,
  createdUserView,
  updateUserBody,
  userListView,
  userParams,
  userView,
} from '../../wire/users.ts';
import { type Route, instanceRoute } from '../route.ts';
import { personalTokenViewOf } from './personal-tokens.ts';

/** docs/interface.md 4, "Further routes" */
export const userRoutes: readonly Route[] = [
  instanceRoute({
    method: 'GET',
    path: '/users',
    action: 'user.list',
    operation: 'listUsers',
    summary: 'List the users, sorted by e-mail address',
    input: { query: pageQuery },
    responses: { 200: userListView },
    async handle({ users }, access, { query }) {
      const list = await users.list(access, query);
      return { status: 200, body: { users: list.users.map(viewOf), nextCursor: list.nextCursor } };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/users',
    action: 'user.create',
    operation: 'createUser',
    summary: 'Create a user; the first personal token is returned only once',
    input: { body: createUserBody },
    responses: { 201: createdUserView },
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
    method: 'GET',
    path: '/users/{id}',
    action: 'user.read',
    operation: 'getUser',
    summary: 'Get a user',
    input: { params: userParams },
    responses: { 200: userView },
    async handle({ users }, access, { params }) {
      return { status: 200, body: viewOf(await users.get(access, params.id)) };
    },
  }),
  instanceRoute({
    method: 'PATCH',
    path: '/users/{id}',
    action: 'user.update',
    operation: 'updateUser',
    summary: 'Rename, promote, demote, disable or enable a user',
    input: { params: userParams, body: updateUserBody },
    responses: { 200: userView },
    async handle({ users }, access, { params, body }) {
      return { status: 200, body: viewOf(await users.update(access, params.id, body)) };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/users/{id}/personal-tokens',
    action: 'user.update',
    operation: 'createUserPersonalToken',
    summary: 'Create a personal token for a user; its value is returned only once',
    input: { params: userParams, body: createPersonalTokenBody },
    responses: { 201: createdPersonalTokenView },
    async handle({ users }, access, { params, body }) {
      const { record, token } = await users.createToken(access, params.id, body);
      return { status: 201, body: { ...personalTokenViewOf(record), token: token.reveal() } };
    },
  }),
  instanceRoute({
    method: 'DELETE',
    path: '/users/{id}/personal-tokens',
    action: 'user.update',
    operation: 'revokeUserPersonalTokens',
    summary: 'End all personal tokens, sessions, passkeys and the sign-in link of a user immediately',
    input: { params: userParams },
    responses: { 204: null },
    async handle({ users }, access, { params }) {
      await users.endTokens(access, params.id);
      return { status: 204 };
    },
  }),
];

function viewOf({ createdAt, disabledAt, ...user }: UserRecord): UserView {
  return { ...user, createdAt: createdAt.toISOString(), disabledAt: disabledAt?.toISOString() ?? null };
}
