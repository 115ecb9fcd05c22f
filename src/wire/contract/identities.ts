import { identityListView, identityParams, userIdentityParams } from '../identities.ts';
import { userParams } from '../users.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Sessions" */

export const listIdentities = endpoint({
  method: 'GET',
  path: '/identities',
  operation: 'listIdentities',
  summary: 'List the accounts of OpenID Connect that are linked to you, newest first',
  input: {},
  responses: { 200: identityListView },
});

export const unlinkIdentity = endpoint({
  method: 'DELETE',
  path: '/identities/{id}',
  operation: 'unlinkIdentity',
  summary: 'Unlink an account of OpenID Connect, and end its sessions immediately',
  input: { params: identityParams },
  responses: { 204: null },
});

export const listUserIdentities = endpoint({
  method: 'GET',
  path: '/users/{id}/identities',
  operation: 'listUserIdentities',
  summary: 'List the accounts of OpenID Connect that are linked to a user, newest first',
  input: { params: userParams },
  responses: { 200: identityListView },
});

export const unlinkUserIdentity = endpoint({
  method: 'DELETE',
  path: '/users/{id}/identities/{identity}',
  operation: 'unlinkUserIdentity',
  summary: 'Unlink an account of OpenID Connect of a user, and end its sessions immediately',
  input: { params: userIdentityParams },
  responses: { 204: null },
});
