import { pageQuery } from '../page.ts';
import { createPersonalTokenBody, createdPersonalTokenView } from '../personal-tokens.ts';
import { createUserBody, createdUserView, updateUserBody, userListView, userParams, userView } from '../users.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Further routes" */

export const listUsers = endpoint({
  method: 'GET',
  path: '/users',
  operation: 'listUsers',
  summary: 'List the users, sorted by e-mail address',
  input: { query: pageQuery },
  responses: { 200: userListView },
});

export const createUser = endpoint({
  method: 'POST',
  path: '/users',
  operation: 'createUser',
  summary: 'Create a user; the first personal token is returned only once',
  input: { body: createUserBody },
  responses: { 201: createdUserView },
});

export const getUser = endpoint({
  method: 'GET',
  path: '/users/{id}',
  operation: 'getUser',
  summary: 'Get a user',
  input: { params: userParams },
  responses: { 200: userView },
});

export const updateUser = endpoint({
  method: 'PATCH',
  path: '/users/{id}',
  operation: 'updateUser',
  summary: 'Rename, promote, demote, disable or enable a user',
  input: { params: userParams, body: updateUserBody },
  responses: { 200: userView },
});

export const createUserPersonalToken = endpoint({
  method: 'POST',
  path: '/users/{id}/personal-tokens',
  operation: 'createUserPersonalToken',
  summary: 'Create a personal token for a user; its value is returned only once',
  input: { params: userParams, body: createPersonalTokenBody },
  responses: { 201: createdPersonalTokenView },
});

export const revokeUserPersonalTokens = endpoint({
  method: 'DELETE',
  path: '/users/{id}/personal-tokens',
  operation: 'revokeUserPersonalTokens',
  summary: 'End all personal tokens, sessions, passkeys and the sign-in link of a user immediately',
  input: { params: userParams },
  responses: { 204: null },
});
