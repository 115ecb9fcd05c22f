import {
  approvedLoginView,
  beginLoginBody,
  deviceLoginView,
  loginTokenBody,
  pendingLoginView,
  userCodeBody,
  waitingDeviceView,
} from '../command-logins.ts';
import { createdPersonalTokenView } from '../personal-tokens.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Sign-in of the command": what the browser sends. */

export const approveLogin = endpoint({
  method: 'POST',
  path: '/logins',
  operation: 'approveLogin',
  summary: 'Approve the sign-in of the command on the machine of the browser',
  input: { body: beginLoginBody },
  responses: { 201: approvedLoginView },
});

export const findDeviceLogin = endpoint({
  method: 'POST',
  path: '/device-logins/lookup',
  operation: 'findDeviceLogin',
  summary: 'Find the command on another machine that waits with a code',
  input: { body: userCodeBody },
  responses: { 200: waitingDeviceView },
});

export const approveDeviceLogin = endpoint({
  method: 'POST',
  path: '/device-logins/approve',
  operation: 'approveDeviceLogin',
  summary: 'Approve the sign-in of the command on another machine',
  input: { body: userCodeBody },
  responses: { 204: null },
});

export const createDeviceLogin = endpoint({
  method: 'POST',
  path: '/device-logins',
  operation: 'createDeviceLogin',
  summary: 'Begin the sign-in of the command on a machine without a browser',
  input: { body: beginLoginBody },
  responses: { 201: deviceLoginView },
});

export const createLoginToken = endpoint({
  method: 'POST',
  path: '/login-tokens',
  operation: 'createLoginToken',
  summary: 'Create the personal token of a command whose sign-in was approved; its value is returned only once',
  input: { body: loginTokenBody },
  responses: { 200: pendingLoginView, 201: createdPersonalTokenView },
});
