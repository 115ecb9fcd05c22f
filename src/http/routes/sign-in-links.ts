import type { Plaintext } from '../../domain/plaintext.ts';
import type { UsableLink } from '../../services/sign-in/sign-in-links.ts';
import {
  createInvitation,
  createSignInLink,
  findSignInLink,
  redeemSignInLink,
} from '../../wire/contract/sign-in-links.ts';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import type { LinkView } from '../../wire/sign-in-links.ts';
import { sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import { instanceRoute, organizationRoute, type PublicRoute, publicRoute, type Route } from '../route.ts';
import { invitationViewOf } from './invitations.ts';
import { sessionViewOf } from './sessions.ts';

/** docs/interface.md 4, "Sign-in links" */
export const signInLinkRoutes: readonly Route[] = [
  organizationRoute({
    ...createInvitation,
    action: 'invitation.create',
    async handle({ invitations, signIn }, access, { body, origin }) {
      const { invitation, token, expiresAt } = await invitations.create(access, body);
      const link = addressOf(token, signIn.publicUrl ?? origin);
      const view = { link, expiresAt: expiresAt.toISOString(), invitation: invitationViewOf(invitation) };
      return { status: 201, body: view };
    },
  }),
  instanceRoute({
    ...createSignInLink,
    action: 'sign_in_link.create',
    async handle({ users, signIn }, access, { params, origin }) {
      const { token, expiresAt } = await users.createLink(access, params.id);
      const link = addressOf(token, signIn.publicUrl ?? origin);
      return { status: 201, body: { link, expiresAt: expiresAt.toISOString() } };
    },
  }),
];

/** What the page of a link sends, before it has a session. */
export const publicSignInLinkRoutes: readonly PublicRoute[] = [
  publicRoute({
    ...findSignInLink,
    async handle({ signInLinks }, request, { body }) {
      return { status: 200, body: viewOf(await signInLinks.find(request, body.link.reveal())) };
    },
  }),
  publicRoute({
    ...redeemSignInLink,
    // Otherwise another site could sign a browser in as the user of a link of its own.
    ownPagesOnly: true,
    async handle({ signInLinks }, request, { body, header }) {
      const replaced = sessionTokenOf(header('cookie'));
      const browser = { userAgent: header('user-agent'), replaced };
      const { session, token } = await signInLinks.redeem(request, body.link.reveal(), browser);
      const headers = { 'Set-Cookie': sessionCookie(token) };
      return { status: 201, body: sessionViewOf(session, { isCurrent: true }), headers };
    },
  }),
];

/** The secret is in the fragment: browsers send it to no server, and no proxy logs it. */
function addressOf(token: Plaintext, origin: string): string {
  return `${origin}${dashboardPaths.link}#${token.reveal()}`;
}

function viewOf({ link, invitation }: UsableLink): LinkView {
  const { email, createdByEmail, expiresAt } = link;
  return {
    email,
    createdBy: { email: createdByEmail },
    expiresAt: expiresAt.toISOString(),
    invitation:
      invitation === undefined
        ? null
        : {
            organization: invitation.organization,
            project: invitation.project,
            environment: invitation.environment,
            role: invitation.role,
          },
  };
}
