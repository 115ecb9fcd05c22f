import { sessionListView, sessionParams, sessionView } from '../sessions.ts';
import { userParams } from '../users.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.17 */

export const createSession = endpoint({
  method: 'POST',
  path: '/sessions',
  operation: 'createSession',
  summary: 'Begin a session of a browser with a personal token; the response sets its cookie',
  input: {},
  responses: { 201: sessionView },
});

export const listSessions = endpoint({
  method: 'GET',
  path: '/sessions',
  operation: 'listSessions',
  summary: 'List your sessions that have not ended, newest first',
  input: {},
  responses: { 200: sessionListView },
});

export const endSessions = endpoint({
  method: 'DELETE',
  path: '/sessions',
  operation: 'endSessions',
  summary: 'End all of your sessions immediately',
  input: {},
  responses: { 204: null },
});

export const endSession = endpoint({
  method: 'DELETE',
  path: '/sessions/{id}',
  operation: 'endSession',
  summary: 'End one of your sessions immediately',
  input: { params: sessionParams },
  responses: { 204: null },
});

export const listUserSessions = endpoint({
  method: 'GET',
  path: '/users/{id}/sessions',
  operation: 'listUserSessions',
  summary: 'List the sessions of a user that have not ended, newest first',
  input: { params: userParams },
  responses: { 200: sessionListView },
});

export const endUserSessions = endpoint({
  method: 'DELETE',
  path: '/users/{id}/sessions',
  operation: 'endUserSessions',
  summary: 'End all sessions of a user immediately',
  input: { params: userParams },
  responses: { 204: null },
});
