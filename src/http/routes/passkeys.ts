import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { PasskeySignIn } from '../../services/sign-in/passkey-sign-in.ts';
import { passkeysOff, type PasskeyRecord, type RegistrationOptions } from '../../services/sign-in/passkeys.ts';
import {
  createPasskeyBody,
  passkeyCreationView,
  type PasskeyCreationView,
  passkeyListView,
  passkeyParams,
  passkeyRequestView,
  passkeySessionBody,
  passkeyView,
  type PasskeyView,
  userPasskeyParams,
} from '../../wire/passkeys.ts';
import { sessionView } from '../../wire/sessions.ts';
import { userParams } from '../../wire/users.ts';
import { endedFlowCookie, flowCookie, flowSecretOf } from '../admission/flow-cookie.ts';
import { sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import type { HttpServices } from '../http-services.ts';
import { instanceRoute, personRoute, type PublicRoute, publicRoute, type Route } from '../route.ts';
import { sessionViewOf } from './sessions.ts';

/** docs/interface.md 4, "Passkeys" */
export const passkeyRoutes: readonly Route[] = [
  personRoute({
    method: 'GET',
    path: '/passkeys',
    action: 'passkey.list',
    operation: 'listPasskeys',
    summary: 'List your passkeys, newest first',
    input: {},
    responses: { 200: passkeyListView },
    async handle({ passkeys }, access) {
      const list = await passkeys.list(access);
      return { status: 200, body: { passkeys: list.map(viewOf), nextCursor: null } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/passkey-registrations',
    action: 'passkey.create',
    operation: 'createPasskeyRegistration',
    summary: 'Begin to register a passkey in a browser; the response sets a cookie',
    input: {},
    responses: { 201: passkeyCreationView },
    async handle({ passkeys }, access) {
      const { options, secret } = await passkeys.start(access);
      return { status: 201, body: creationViewOf(options), headers: { 'Set-Cookie': flowCookie(secret) } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/passkeys',
    action: 'passkey.create',
    operation: 'createPasskey',
    summary: 'Register a passkey with the response of an authenticator',
    input: { body: createPasskeyBody },
    responses: { 201: passkeyView },
    async handle({ passkeys }, access, { body, header }) {
      const { name, ...response } = body;
      const record = await passkeys.register(access, { name, response, cookie: flowSecretOf(header('cookie')) });
      return { status: 201, body: viewOf(record), headers: { 'Set-Cookie': endedFlowCookie } };
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/passkeys/{id}',
    action: 'passkey.remove',
    operation: 'removePasskey',
    summary: 'Remove one of your passkeys, and end its sessions immediately',
    input: { params: passkeyParams },
    responses: { 204: null },
    async handle({ passkeys }, access, { params }) {
      await passkeys.remove(access, params.id);
      return { status: 204 };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/passkeys/{id}/confirm',
    action: 'passkey.confirm',
    operation: 'confirmPasskey',
    summary: 'Confirm one of your passkeys, so that it works again after a restore from a backup',
    input: { params: passkeyParams },
    responses: { 204: null },
    async handle({ passkeys }, access, { params }) {
      await passkeys.confirm(access, params.id);
      return { status: 204 };
    },
  }),
  instanceRoute({
    method: 'GET',
    path: '/users/{id}/passkeys',
    action: 'user.read',
    operation: 'listUserPasskeys',
    summary: 'List the passkeys of a user, newest first',
    input: { params: userParams },
    responses: { 200: passkeyListView },
    async handle({ passkeys }, access, { params }) {
      const list = await passkeys.listOfUser(access, params.id);
      return { status: 200, body: { passkeys: list.map(viewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    method: 'DELETE',
    path: '/users/{id}/passkeys/{passkey}',
    action: 'user.update',
    operation: 'removeUserPasskey',
    summary: 'Remove a passkey of a user, and end its sessions immediately',
    input: { params: userPasskeyParams },
    responses: { 204: null },
    async handle({ passkeys }, access, { params }) {
      await passkeys.removeOfUser(access, params.id, params.passkey);
      return { status: 204 };
    },
  }),
  instanceRoute({
    method: 'POST',
    path: '/users/{id}/passkeys/{passkey}/confirm',
    action: 'user.update',
    operation: 'confirmUserPasskey',
    summary: 'Confirm a passkey of a user, so that it works again after a restore from a backup',
    input: { params: userPasskeyParams },
    responses: { 204: null },
    async handle({ passkeys }, access, { params }) {
      await passkeys.confirmOfUser(access, params.id, params.passkey);
      return { status: 204 };
    },
  }),
];

/** The sign-in with a passkey. */
export const publicPasskeyRoutes: readonly PublicRoute[] = [
  publicRoute({
    method: 'POST',
    path: '/passkey-challenges',
    operation: 'createPasskeyChallenge',
    summary: 'Begin a sign-in with a passkey; the response sets a cookie',
    // Otherwise another site could replace the flow of a browser that signs in.
    ownPagesOnly: true,
    input: {},
    responses: { 201: passkeyRequestView },
    async handle({ signIn }) {
      const { options, secret } = await offered(signIn).start();
      return { status: 201, body: options, headers: { 'Set-Cookie': flowCookie(secret) } };
    },
  }),
  publicRoute({
    method: 'POST',
    path: '/passkey-sessions',
    operation: 'createPasskeySession',
    ownPagesOnly: true,
    summary: 'Begin a session of a browser with a passkey; the response sets its cookie',
    input: { body: passkeySessionBody },
    responses: { 201: sessionView },
    async handle({ signIn }, request, { body: response, header }) {
      const cookies = header('cookie');
      const { session, token } = await offered(signIn).finish(flowSecretOf(cookies), response, {
        ...request,
        userAgent: header('user-agent'),
        formerSession: sessionTokenOf(cookies),
      });
      const body = sessionViewOf(session, { isCurrent: true });
      return { status: 201, body, headers: { 'Set-Cookie': sessionCookie(token) } };
    },
  }),
];

/** Throws DomainError forbidden if this server has no passkeys. */
function offered({ passkeys }: HttpServices['signIn']): PasskeySignIn {
  if (typeof passkeys === 'string') throw passkeysOff(passkeys);
  return passkeys;
}

function viewOf({ createdAt, lastUsedAt, unusableSince, creator, ...fields }: PasskeyRecord): PasskeyView {
  return {
    ...fields,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    unusableSince: unusableSince?.toISOString() ?? null,
    createdBy: shownTokenCreator(creator),
  };
}

function creationViewOf(options: RegistrationOptions): PasskeyCreationView {
  const { challenge, user, rpId, algorithms, timeout, known } = options;
  return {
    challenge,
    rp: { id: rpId, name: 'Keyframe' },
    user: { ...user, displayName: user.name },
    pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    attestation: 'none',
    excludeCredentials: known.map(({ id, transports }) => ({ type: 'public-key', id, transports: [...transports] })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  };
}
