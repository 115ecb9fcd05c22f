import {
  approveDeviceLogin,
  approveLogin,
  createDeviceLogin,
  createLoginToken,
  findDeviceLogin,
} from '../../wire/contract/command-logins.ts';
import { type PublicRoute, type Route, personRoute, publicRoute } from '../route.ts';
import { personalTokenViewOf } from './personal-tokens.ts';

const intervalSeconds = 5;

/** docs/interface.md 4, "Sign-in of the command": what the browser sends. */
export const commandLoginRoutes: readonly Route[] = [
  personRoute({
    ...approveLogin,
    action: 'login.approve',
    async handle({ commandLogins }, access, { body }) {
      const { code, expiresAt } = await commandLogins.approve(access, body.codeChallenge);
      return { status: 201, body: { code: code.reveal(), expiresAt: expiresAt.toISOString() } };
    },
  }),
  personRoute({
    ...findDeviceLogin,
    action: 'login.read',
    async handle({ commandLogins }, access, { body }) {
      const { sourceAddress, createdAt, expiresAt } = await commandLogins.findDevice(access, body.userCode);
      const times = { createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() };
      return { status: 200, body: { sourceAddress, ...times } };
    },
  }),
  personRoute({
    ...approveDeviceLogin,
    action: 'login.approve',
    async handle({ commandLogins }, access, { body }) {
      await commandLogins.approveDevice(access, body.userCode);
      return { status: 204 };
    },
  }),
];

/** What the command sends, before it has a token. */
export const publicCommandLoginRoutes: readonly PublicRoute[] = [
  publicRoute({
    ...createDeviceLogin,
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
    ...createLoginToken,
    async handle({ commandLogins }, request, { body }) {
      const created = await commandLogins.createToken(request, body);
      if (created === 'pending') return { status: 200, body: { status: 'pending' as const } };
      return { status: 201, body: { ...personalTokenViewOf(created.record), token: created.token.reveal() } };
    },
  }),
];
