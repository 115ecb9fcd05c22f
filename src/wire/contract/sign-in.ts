import { signInView, updateSignInBody } from '../sign-in.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Sessions" */

export const getSignIn = endpoint({
  method: 'GET',
  path: '/sign-in',
  operation: 'getSignIn',
  summary: 'Get the ways in which users sign in',
  input: {},
  responses: { 200: signInView },
});

export const updateSignIn = endpoint({
  method: 'PUT',
  path: '/sign-in',
  operation: 'updateSignIn',
  summary: 'Open or close sign-in with more than a personal token',
  input: { body: updateSignInBody },
  responses: { 200: signInView },
});
