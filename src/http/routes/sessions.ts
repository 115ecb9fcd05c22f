import type { Caller } from '../../domain/principal.ts';
import type { SessionRecord } from '../../services/sign-in/sessions.ts';
import { type SessionView, sessionListView, sessionParams, sessionView } from '../../wire/sessions.ts';
import { userParams } from '../../wire/users.ts';
import { endedSessionCookie, sessionCookie, sessionTokenOf } from '../admission/session-cookie.ts';
import { type Route, instanceRoute, personRoute } from '../route.ts';

/** docs/interface.md 4.17 */
export const sessionRoutes: readonly Route[] = [
  personRoute({
    method: 'POST',
    path: '/sessions',
    action: 'session.create',
    operation: 'createSession',
    summary: 'Begin a session of a browser with a personal token; the response sets its cookie',
    input: {},
    responses: { 201: sessionView },
    async handle({ sessions }, access, { header }) {
      const replaced = sessionTokenOf(header('cookie'));
      const { session, token } = await sessions.create(access, { userAgent: header('user-agent'), replaced });
      const body = sessionViewOf(session, { isCurrent: true });
      return { status: 201, body, headers: { 'Set-Cookie': sessionCookie(token) } };
    },
  }),
  personRoute({
    method: 'GET',
    path: '/sessions',
    action: 'session.list',
    operation: 'listSessions',
    summary: 'List your sessions that have not ended, newest first',
    input: {},
    responses: { 200: sessionListView },
    async handle({ sessions }, access) {
      const list = await sessions.list(access);
      return { status: 200, body: { sessions: list.map((one) => viewOf(one, access.caller)), nextCursor: null } };
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/sessions',
    action: 'session.end',
    operation: 'endSessions',
    summary: 'End all of your sessions immediately',
    input: {},
    responses: { 204: null },
    async handle({ sessions }, access) {
      await sessions.endAll(access);
      return { status: 204, headers: { 'Set-Cookie': endedSessionCookie } };
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/sessions/{id}',
    action: 'session.end',
    operation: 'endSession',
    summary: 'End one of your sessions immediately',
    input: { params: sessionParams },
    responses: { 204: null },
    async handle({ sessions }, access, { params }) {
      await sessions.end(access, params.id);
      const isCurrent = params.id === access.caller.principal.credentialId;
      return isCurrent ? { status: 204, headers: { 'Set-Cookie': endedSessionCookie } } : { status: 204 };
    },
  }),
  instanceRoute({
    method: 'GET',
    path: '/users/{id}/sessions',
    action: 'user.read',
    operation: 'listUserSessions',
    summary: 'List the sessions of a user that have not ended, newest first',
    input: { params: userParams },
    responses: { 200: sessionListView },
    async handle({ sessions }, access, { params }) {
      const list = await sessions.listOfUser(access, params.id);
      return { status: 200, body: { sessions: list.map((one) => viewOf(one, access.caller)), nextCursor: null } };
    },
  }),
  instanceRoute({
    method: 'DELETE',
    path: '/users/{id}/sessions',
    action: 'user.update',
    operation: 'endUserSessions',
    summary: 'End all sessions of a user immediately',
    input: { params: userParams },
    responses: { 204: null },
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
