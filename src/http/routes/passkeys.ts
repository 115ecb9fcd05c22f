import { shownTokenCreator } from '../../domain/impersonation.ts';
import type { PasskeySignIn } from '../../services/sign-in/passkey-sign-in.ts';
import { passkeysOff, type PasskeyRecord, type RegistrationOptions } from '../../services/sign-in/passkeys.ts';
import {
  confirmPasskey,
  confirmUserPasskey,
  createPasskey,
  createPasskeyChallenge,
  createPasskeyRegistration,
  createPasskeySession,
  listPasskeys,
  listUserPasskeys,
  removePasskey,
  removeUserPasskey,
} from '../../wire/contract/passkeys.ts';
import type { PasskeyCreationView, PasskeyView } from '../../wire/passkeys.ts';
import { endedFlowCookie, flowCookie, flowSecretOf } from '../admission/flow-cookie.ts';
import { sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import type { HttpServices } from '../http-services.ts';
import { instanceRoute, personRoute, type PublicRoute, publicRoute, type Route } from '../route.ts';
import { sessionViewOf } from './sessions.ts';

/** docs/interface.md 4, "Passkeys" */
export const passkeyRoutes: readonly Route[] = [
  personRoute({
    ...listPasskeys,
    action: 'passkey.list',
    async handle({ passkeys }, access) {
      const list = await passkeys.list(access);
      return { status: 200, body: { passkeys: list.map(viewOf), nextCursor: null } };
    },
  }),
  personRoute({
    ...createPasskeyRegistration,
    action: 'passkey.create',
    async handle({ passkeys }, access) {
      const { options, secret } = await passkeys.start(access);
      return { status: 201, body: creationViewOf(options), headers: { 'Set-Cookie': flowCookie(secret) } };
    },
  }),
  personRoute({
    ...createPasskey,
    action: 'passkey.create',
    async handle({ passkeys }, access, { body, header }) {
      const { name, ...response } = body;
      const record = await passkeys.register(access, { name, response, cookie: flowSecretOf(header('cookie')) });
      return { status: 201, body: viewOf(record), headers: { 'Set-Cookie': endedFlowCookie } };
    },
  }),
  personRoute({
    ...removePasskey,
    action: 'passkey.remove',
    async handle({ passkeys }, access, { params }) {
      await passkeys.remove(access, params.id);
      return { status: 204 };
    },
  }),
  personRoute({
    ...confirmPasskey,
    action: 'passkey.confirm',
    async handle({ passkeys }, access, { params }) {
      await passkeys.confirm(access, params.id);
      return { status: 204 };
    },
  }),
  instanceRoute({
    ...listUserPasskeys,
    action: 'user.read',
    async handle({ passkeys }, access, { params }) {
      const list = await passkeys.listOfUser(access, params.id);
      return { status: 200, body: { passkeys: list.map(viewOf), nextCursor: null } };
    },
  }),
  instanceRoute({
    ...removeUserPasskey,
    action: 'user.update',
    async handle({ passkeys }, access, { params }) {
      await passkeys.removeOfUser(access, params.id, params.passkey);
      return { status: 204 };
    },
  }),
  instanceRoute({
    ...confirmUserPasskey,
    action: 'user.update',
    async handle({ passkeys }, access, { params }) {
      await passkeys.confirmOfUser(access, params.id, params.passkey);
      return { status: 204 };
    },
  }),
];

/** The sign-in with a passkey. */
export const publicPasskeyRoutes: readonly PublicRoute[] = [
  publicRoute({
    ...createPasskeyChallenge,
    // Otherwise another site could replace the flow of a browser that signs in.
    ownPagesOnly: true,
    async handle({ signIn }) {
      const { options, secret } = await offered(signIn).start();
      return { status: 201, body: options, headers: { 'Set-Cookie': flowCookie(secret) } };
    },
  }),
  publicRoute({
    ...createPasskeySession,
    ownPagesOnly: true,
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
