import {
  deleteTrustedIssuerQuery,
  issuerNameListView,
  setTrustedIssuerBody,
  trustedIssuerListView,
  trustedIssuerParams,
  trustedIssuerView,
} from '../trusted-issuers.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.19. */

export const listTrustedIssuers = endpoint({
  method: 'GET',
  path: '/trusted-issuers',
  operation: 'listTrustedIssuers',
  summary: 'List the issuers whose JWTs prove service tokens',
  input: {},
  responses: { 200: trustedIssuerListView },
});

export const getTrustedIssuer = endpoint({
  method: 'GET',
  path: '/trusted-issuers/{name}',
  operation: 'getTrustedIssuer',
  summary: 'Get a trusted issuer',
  input: { params: trustedIssuerParams },
  responses: { 200: trustedIssuerView },
});

export const setTrustedIssuer = endpoint({
  method: 'PUT',
  path: '/trusted-issuers/{name}',
  operation: 'setTrustedIssuer',
  summary: 'Add, change or enable a trusted issuer',
  input: { params: trustedIssuerParams, body: setTrustedIssuerBody },
  responses: { 200: trustedIssuerView },
});

export const deleteTrustedIssuer = endpoint({
  method: 'DELETE',
  path: '/trusted-issuers/{name}',
  operation: 'deleteTrustedIssuer',
  summary: 'Delete a trusted issuer',
  input: { params: trustedIssuerParams, query: deleteTrustedIssuerQuery },
  responses: { 204: null },
});

export const listIssuerNames = endpoint({
  method: 'GET',
  path: '/organizations/{org}/trusted-issuers',
  operation: 'listIssuerNames',
  summary: 'List the issuers that service tokens of an organization can name',
  input: {},
  responses: { 200: issuerNameListView },
});
