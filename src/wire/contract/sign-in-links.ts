import { sessionView } from '../sessions.ts';
import { createdInvitationView, createdLinkView, createInvitationBody, linkBody, linkView } from '../sign-in-links.ts';
import { userParams } from '../users.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Sign-in links" */

export const createInvitation = endpoint({
  method: 'POST',
  path: '/organizations/{org}/invitations',
  operation: 'createInvitation',
  summary: 'Invite an e-mail address that no user has; the sign-in link is returned only once',
  input: { body: createInvitationBody },
  responses: { 201: createdInvitationView },
});

export const createSignInLink = endpoint({
  method: 'POST',
  path: '/users/{id}/sign-in-links',
  operation: 'createSignInLink',
  summary: 'Create a sign-in link for a user; it is returned only once',
  input: { params: userParams },
  responses: { 201: createdLinkView },
});

export const findSignInLink = endpoint({
  method: 'POST',
  path: '/sign-in-links/lookup',
  operation: 'findSignInLink',
  summary: 'Get what a sign-in link is for',
  input: { body: linkBody },
  responses: { 200: linkView },
});

export const redeemSignInLink = endpoint({
  method: 'POST',
  path: '/sign-in-links/redeem',
  operation: 'redeemSignInLink',
  summary: 'Begin a session of a browser with a sign-in link, which works once; the response sets its cookie',
  input: { body: linkBody },
  responses: { 201: sessionView },
});
