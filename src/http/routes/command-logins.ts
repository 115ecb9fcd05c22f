import {
  approvedLoginView,
  beginLoginBody,
  deviceLoginView,
  loginTokenBody,
  pendingLoginView,
  userCodeBody,
  waitingDeviceView,
} from '../../wire/command-logins.ts';
import { createdPersonalTokenView } from '../../wire/personal-tokens.ts';
import { type PublicRoute, type Route, personRoute, publicRoute } from '../route.ts';
import { personalTokenViewOf } from './personal-tokens.ts';

const intervalSeconds = 5;

/** docs/interface.md 4, "Sign-in of the command": what the browser sends. */
export const commandLoginRoutes: readonly Route[] = [
  personRoute({
    method: 'POST',
    path: '/logins',
    action: 'login.approve',
    operation: 'approveLogin',
    summary: 'Approve the sign-in of the command on the machine of the browser',
    input: { body: beginLoginBody },
    responses: { 201: approvedLoginView },
    async handle({ commandLogins }, access, { body }) {
      const { code, expiresAt } = await commandLogins.approve(access, body.codeChallenge);
      return { status: 201, body: { code: code.reveal(), expiresAt: expiresAt.toISOString() } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/device-logins/lookup',
    action: 'login.read',
    operation: 'findDeviceLogin',
    summary: 'Find the command on another machine that waits with a code',
    input: { body: userCodeBody },
    responses: { 200: waitingDeviceView },
    async handle({ commandLogins }, access, { body }) {
      const { sourceAddress, createdAt, expiresAt } = await commandLogins.findDevice(access, body.userCode);
      const times = { createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
      return { status: 200, body: { sourceAddress, ...times } };
    },
  }),
  personRoute({
    method: 'POST',
    path: '/device-logins/approve',
    action: 'login.approve',
    operation: 'approveDeviceLogin',
    summary: 'Approve the sign-in of the command on another machine',
    input: { body: userCodeBody },
    responses: { 204: null },
    async handle({ commandLogins }, access, { body }) {
      await commandLogins.approveDevice(access, body.userCode);
      return { status: 204 };
    },
  }),
];

/** What the command sends, before it has a token. */
export const publicCommandLoginRoutes: readonly PublicRoute[] = [
  publicRoute({
    method: 'POST',
    path: '/device-logins',
    operation: 'createDeviceLogin',
    summary: 'Begin the sign-in of the command on a machine without a browser',
    input: { body: beginLoginBody },
    responses: { 201: deviceLoginView },
    async handle({ commandLogins }, request, { body }) {
      const { deviceCode, userCode, expiresAt } = await commandLogins.beginDevice(request, body.codeChallenge);
      const shown = userCode.reveal();
      return {
        status: 201,
        body: {
          deviceCode,
          userCode: `${shown.slice(0, 4)}-${shown.slice(4)}`,
          expiresAt: expiresAt.toISOString(),
          intervalSeconds,
        },
      };
    },
  }),
  publicRoute({
    method: 'POST',
    path: '/login-tokens',
    operation: 'createLoginToken',
    summary: 'Create the personal token of a command whose sign-in was approved; its value is returned only once',
    input: { body: loginTokenBody },
    responses: { 200: pendingLoginView, 201: createdPersonalTokenView },
    async handle({ commandLogins }, request, { body }) {
      const created = await commandLogins.createToken(request, body);
      if (created === 'pending') return { status: 200, body: { status: 'pending' as const } };
      return { status: 201, body: { ...personalTokenViewOf(created.record), token: created.token.reveal() } };
    },
  }),
];
