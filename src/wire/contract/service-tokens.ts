import { acceptIssuerBody, explainJwtBody, jwtExplanationView } from '../federation.ts';
import { pageQuery } from '../page.ts';
import {
  createServiceTokenBody,
  createdServiceTokenView,
  newServiceTokenView,
  rotateServiceTokenBody,
  serviceTokenListView,
  serviceTokenParams,
  serviceTokenView,
} from '../service-tokens.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.4, 4.8 and 4.16. Those of a project are the same for its admins, and for tokens within it. */

const listed = { input: { query: pageQuery }, responses: { 200: serviceTokenListView } } as const;
const created = {
  input: { body: createServiceTokenBody, idempotencyKey: true },
  responses: { 201: newServiceTokenView, 200: serviceTokenView },
} as const;
const got = { input: { params: serviceTokenParams }, responses: { 200: serviceTokenView } } as const;
const rotated = {
  input: { params: serviceTokenParams, body: rotateServiceTokenBody },
  responses: { 200: createdServiceTokenView },
} as const;
const reinstated = { input: { params: serviceTokenParams }, responses: { 200: serviceTokenView } } as const;
const revoked = { input: { params: serviceTokenParams }, responses: { 204: null } } as const;

export const listServiceTokens = endpoint({
  method: 'GET',
  path: '/service-tokens/{org}',
  operation: 'listServiceTokens',
  summary: 'List the service tokens of an organization, newest first',
  ...listed,
});

export const createServiceToken = endpoint({
  method: 'POST',
  path: '/service-tokens/{org}',
  operation: 'createServiceToken',
  summary: 'Create a service token; its value is returned only once',
  ...created,
});

export const getServiceToken = endpoint({
  method: 'GET',
  path: '/service-tokens/{org}/{id}',
  operation: 'getServiceToken',
  summary: 'Get a service token',
  ...got,
});

export const rotateServiceToken = endpoint({
  method: 'POST',
  path: '/service-tokens/{org}/{id}/rotate',
  operation: 'rotateServiceToken',
  summary: 'Rotate a service token; the new value is returned only once',
  ...rotated,
});

export const reinstateServiceToken = endpoint({
  method: 'POST',
  path: '/service-tokens/{org}/{id}/reinstate',
  operation: 'reinstateServiceToken',
  summary: 'Lift the revocation of a keyless service token',
  ...reinstated,
});

export const acceptIssuer = endpoint({
  method: 'POST',
  path: '/service-tokens/{org}/{id}/accept-issuer',
  operation: 'acceptIssuer',
  summary: 'Accept the issuer of a federated service token as it is now',
  input: { params: serviceTokenParams, body: acceptIssuerBody },
  responses: { 200: serviceTokenView },
});

export const explainJwt = endpoint({
  method: 'POST',
  path: '/service-tokens/{org}/{id}/explain',
  operation: 'explainJwt',
  summary: 'Explain whether a JWT proves a federated service token',
  input: { params: serviceTokenParams, body: explainJwtBody },
  responses: { 200: jwtExplanationView },
});

export const revokeServiceToken = endpoint({
  method: 'DELETE',
  path: '/service-tokens/{org}/{id}',
  operation: 'revokeServiceToken',
  summary: 'Revoke a service token immediately',
  ...revoked,
});

export const listProjectServiceTokens = endpoint({
  method: 'GET',
  path: '/projects/{org}/{project}/service-tokens',
  operation: 'listProjectServiceTokens',
  summary: 'List the service tokens for a project and its environments, newest first',
  ...listed,
});

export const createProjectServiceToken = endpoint({
  method: 'POST',
  path: '/projects/{org}/{project}/service-tokens',
  operation: 'createProjectServiceToken',
  summary: 'Create a service token for a project or an environment of it; its value is returned only once',
  ...created,
});

export const getProjectServiceToken = endpoint({
  method: 'GET',
  path: '/projects/{org}/{project}/service-tokens/{id}',
  operation: 'getProjectServiceToken',
  summary: 'Get a service token of a project',
  ...got,
});

export const rotateProjectServiceToken = endpoint({
  method: 'POST',
  path: '/projects/{org}/{project}/service-tokens/{id}/rotate',
  operation: 'rotateProjectServiceToken',
  summary: 'Rotate a service token of a project; the new value is returned only once',
  ...rotated,
});

export const reinstateProjectServiceToken = endpoint({
  method: 'POST',
  path: '/projects/{org}/{project}/service-tokens/{id}/reinstate',
  operation: 'reinstateProjectServiceToken',
  summary: 'Lift the revocation of a keyless service token of a project',
  ...reinstated,
});

export const revokeProjectServiceToken = endpoint({
  method: 'DELETE',
  path: '/projects/{org}/{project}/service-tokens/{id}',
  operation: 'revokeProjectServiceToken',
  summary: 'Revoke a service token of a project immediately',
  ...revoked,
});
