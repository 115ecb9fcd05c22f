import { pageQuery } from '../page.ts';
import {
  createPersonalTokenBody,
  createdPersonalTokenView,
  personalTokenListView,
  personalTokenParams,
} from '../personal-tokens.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4, "Further routes" */

export const listPersonalTokens = endpoint({
  method: 'GET',
  path: '/personal-tokens',
  operation: 'listPersonalTokens',
  summary: 'List your personal tokens, newest first',
  input: { query: pageQuery },
  responses: { 200: personalTokenListView },
});

export const createPersonalToken = endpoint({
  method: 'POST',
  path: '/personal-tokens',
  operation: 'createPersonalToken',
  summary: 'Create a personal token for yourself; its value is returned only once',
  input: { body: createPersonalTokenBody },
  responses: { 201: createdPersonalTokenView },
});

export const revokePersonalToken = endpoint({
  method: 'DELETE',
  path: '/personal-tokens/{id}',
  operation: 'revokePersonalToken',
  summary: 'Revoke one of your personal tokens immediately',
  input: { params: personalTokenParams },
  responses: { 204: null },
});
