import type { Caller } from '../../domain/principal.ts';
import type { SessionRecord } from '../../services/sign-in/sessions.ts';
import {
  createSession,
  endSession,
  endSessions,
  endUserSessions,
  listSessions,
  listUserSessions,
} from '../../wire/contract/sessions.ts';
import type { SessionView } from '../../wire/sessions.ts';
import { endedSessionCookie, sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import { type Route, instanceRoute, personRoute } from '../route.ts';

/** docs/interface.md 4.17 */
export const sessionRoutes: readonly Route[] = [
  personRoute({
    ...createSession,
    action: 'session.create',
    async handle({ sessions }, access, { header }) {
      const replaced = sessionTokenOf(header('cookie'));
      const { session, token } = await sessions.create(access, { userAgent: header('user-agent'), replaced });
      const body = sessionViewOf(session, { isCurrent: true });
      return { status: 201, body, headers: { 'Set-Cookie': sessionCookie(token) } };
    },
  }),
  personRoute({
    ...listSessions,
    action: 'session.list',
    async handle({ sessions }, access) {
      const list = await sessions.list(access);
      return { status: 200, body: { sessions: list.map((one) => viewOf(one, access.caller)), nextCursor: null } };
    },
  }),
  personRoute({
    ...endSessions,
    action: 'session.end',
    async handle({ sessions }, access) {
      await sessions.endAll(access);
      return { status: 204, headers: { 'Set-Cookie': endedSessionCookie } };
    },
  }),
  personRoute({
    ...endSession,
    action: 'session.end',
    async handle({ sessions }, access, { params }) {
      await sessions.end(access, params.id);
      const isCurrent = params.id === access.caller.principal.credentialId;
      return isCurrent ? { status: 204, headers: { 'Set-Cookie': endedSessionCookie } } : { status: 204 };
    },
  }),
  instanceRoute({
    ...listUserSessions,
    action: 'user.read',
    async handle({ sessions }, access, { params }) {
      const list = await sessions.listOfUser(access, params.id);
      return { status: 200, body: { sessions: list.map((one) => viewOf(one, access.caller)), nextCursor: null } };
    },
  }),
  instanceRoute({
    ...endUserSessions,
    action: 'user.update',
    async handle({ sessions }, access, { params }) {
      await sessions.endOfUser(access, params.id);
      return { status: 204 };
    },
  }),
];

function viewOf(session: SessionRecord, caller: Caller): SessionView {
  return sessionViewOf(session, { isCurrent: session.id === caller.principal.credentialId });
}

export function sessionViewOf(
  { id, signedInWith, sourceAddress, userAgent, ...times }: SessionRecord,
  { isCurrent }: { readonly isCurrent: boolean },
): SessionView {
  return {
    id,
    signedInWith,
    createdAt: times.createdAt.toISOString(),
    lastUsedAt: times.lastUsedAt.toISOString(),
    expiresAt: times.expiresAt.toISOString(),
    idleExpiresAt: times.idleExpiresAt.toISOString(),
    verifiedAt: times.verifiedAt?.toISOString() ?? null,
    sourceAddress,
    userAgent,
    current: isCurrent,
  };
}
