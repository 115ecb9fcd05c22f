import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { IdentityRecord } from '../../services/sign-in/identities.ts';
import { identityListView, identityParams, type IdentityView, userIdentityParams } from '../../wire/identities.ts';
import { userParams } from '../../wire/users.ts';
import { instanceRoute, personRoute, type Route } from '../route.ts';

/** docs/interface.md 4, "Sessions" */
export const identityRoutes: readonly Route[] = [
  personRoute({
    method: 'GET',
    path: '/identities',
    action: 'identity.list',
    operation: 'listIdentities',
    summary: 'List the accounts of OpenID Connect that are linked to you, newest first',
    input: {},
    responses: { 200: identityListView },
    async handle({ identities }, access) {
      const list = await identities.list(access);
      return { status: 200, body: { identities: list.map(viewOf), nextCursor: null } };
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/identities/{id}',
    action: 'identity.unlink',
    operation: 'unlinkIdentity',
    summary: 'Unlink an account of OpenID Connect, and end its sessions immediately',
    input: { params: identityParams },
    responses: { 204: null },
    async handle({ identities }, access, { params }) {
      await identities.unlink(access, params.id);
      return { status: 204 };
    },
  }),
  instanceRoute({
    method: 'GET',
    path: '/users/{id}/identities',
    action: 'user.read',
    operation: 'listUserIdentities',
    summary: 'List the accounts of OpenID Connect that are linked to a user, newest first',
    input: { params: userParams },
    responses: { 200: identityListView },
    async handle({ identities }, access, { params }) {
      const list = await identities.listOfUser(access, params.id);
      return { status: 200, body: { identities: list.map(viewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    method: 'DELETE',
    path: '/users/{id}/identities/{identity}',
    action: 'user.update',
    operation: 'unlinkUserIdentity',
    summary: 'Unlink an account of OpenID Connect of a user, and end its sessions immediately',
    input: { params: userIdentityParams },
    responses: { 204: null },
    async handle({ identities }, access, { params }) {
      await identities.unlinkOfUser(access, params.id, params.identity);
      return { status: 204 };
    },
  }),
];

function viewOf({ id, issuer, subject, createdAt, lastSignInAt, creator }: IdentityRecord): IdentityView {
  return {
    id,
    issuer,
    subject,
    createdAt: createdAt.toISOString(),
    lastSignInAt: lastSignInAt?.toISOString() ?? null,
    createdBy: shownTokenCreator(creator),
  };
}
