import {
  createPasskeyBody,
  passkeyCreationView,
  passkeyListView,
  passkeyParams,
  passkeyRequestView,
  passkeySessionBody,
  passkeyView,
  userPasskeyParams,
} from '../passkeys.ts';
import { sessionView } from '../sessions.ts';
import { userParams } from '../users.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Passkeys" */

export const listPasskeys = endpoint({
  method: 'GET',
  path: '/passkeys',
  operation: 'listPasskeys',
  summary: 'List your passkeys, newest first',
  input: {},
  responses: { 200: passkeyListView },
});

export const createPasskeyRegistration = endpoint({
  method: 'POST',
  path: '/passkey-registrations',
  operation: 'createPasskeyRegistration',
  summary: 'Begin to register a passkey in a browser; the response sets a cookie',
  input: {},
  responses: { 201: passkeyCreationView },
});

export const createPasskey = endpoint({
  method: 'POST',
  path: '/passkeys',
  operation: 'createPasskey',
  summary: 'Register a passkey with the response of an authenticator',
  input: { body: createPasskeyBody },
  responses: { 201: passkeyView },
});

export const removePasskey = endpoint({
  method: 'DELETE',
  path: '/passkeys/{id}',
  operation: 'removePasskey',
  summary: 'Remove one of your passkeys, and end its sessions immediately',
  input: { params: passkeyParams },
  responses: { 204: null },
});

export const confirmPasskey = endpoint({
  method: 'POST',
  path: '/passkeys/{id}/confirm',
  operation: 'confirmPasskey',
  summary: 'Confirm one of your passkeys, so that it works again after a restore from a backup',
  input: { params: passkeyParams },
  responses: { 204: null },
});

export const listUserPasskeys = endpoint({
  method: 'GET',
  path: '/users/{id}/passkeys',
  operation: 'listUserPasskeys',
  summary: 'List the passkeys of a user, newest first',
  input: { params: userParams },
  responses: { 200: passkeyListView },
});

export const removeUserPasskey = endpoint({
  method: 'DELETE',
  path: '/users/{id}/passkeys/{passkey}',
  operation: 'removeUserPasskey',
  summary: 'Remove a passkey of a user, and end its sessions immediately',
  input: { params: userPasskeyParams },
  responses: { 204: null },
});

export const confirmUserPasskey = endpoint({
  method: 'POST',
  path: '/users/{id}/passkeys/{passkey}/confirm',
  operation: 'confirmUserPasskey',
  summary: 'Confirm a passkey of a user, so that it works again after a restore from a backup',
  input: { params: userPasskeyParams },
  responses: { 204: null },
});

export const createPasskeyChallenge = endpoint({
  method: 'POST',
  path: '/passkey-challenges',
  operation: 'createPasskeyChallenge',
  summary: 'Begin a sign-in with a passkey; the response sets a cookie',
  input: {},
  responses: { 201: passkeyRequestView },
});

export const createPasskeySession = endpoint({
  method: 'POST',
  path: '/passkey-sessions',
  operation: 'createPasskeySession',
  summary: 'Begin a session of a browser with a passkey; the response sets its cookie',
  input: { body: passkeySessionBody },
  responses: { 201: sessionView },
});
