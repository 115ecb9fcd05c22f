import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { IdentityRecord } from '../../services/sign-in/identities.ts';
import {
  listIdentities,
  listUserIdentities,
  unlinkIdentity,
  unlinkUserIdentity,
} from '../../wire/contract/identities.ts';
import type { IdentityView } from '../../wire/identities.ts';
import { instanceRoute, personRoute, type Route } from '../route.ts';

/** docs/interface.md 4, "Sessions" */
export const identityRoutes: readonly Route[] = [
  personRoute({
    ...listIdentities,
    action: 'identity.list',
    async handle({ identities }, access) {
      const list = await identities.list(access);
      return { status: 200, body: { identities: list.map(viewOf), nextCursor: null } };
    },
  }),
  personRoute({
    ...unlinkIdentity,
    action: 'identity.unlink',
    async handle({ identities }, access, { params }) {
      await identities.unlink(access, params.id);
      return { status: 204 };
    },
  }),
  instanceRoute({
    ...listUserIdentities,
    action: 'user.read',
    async handle({ identities }, access, { params }) {
      const list = await identities.listOfUser(access, params.id);
      return { status: 200, body: { identities: list.map(viewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    ...unlinkUserIdentity,
    action: 'user.update',
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
