import { conditionalHeaders } from '../fields.ts';
import {
  listedSecretsView,
  patchSecretsBody,
  putSecretBody,
  secretListQuery,
  secretParams,
  secretPatchView,
  secretQuery,
  secretView,
  secretWriteView,
} from '../secrets.ts';
import { bodyLimits } from './body-limits.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.5 */

export const listSecrets = endpoint({
  method: 'GET',
  path: '/secrets/{org}/{project}/{env}',
  operation: 'listSecrets',
  summary: 'Read the secrets of an environment',
  input: { query: secretListQuery, headers: conditionalHeaders },
  responses: { 200: listedSecretsView, 304: null },
});

export const patchSecrets = endpoint({
  method: 'PATCH',
  path: '/secrets/{org}/{project}/{env}',
  operation: 'patchSecrets',
  summary: 'Set and delete several secrets in one change',
  input: { body: patchSecretsBody, bodyLimits: bodyLimits.values },
  responses: { 200: secretPatchView },
});

export const getSecret = endpoint({
  method: 'GET',
  path: '/secrets/{org}/{project}/{env}/{key}',
  operation: 'getSecret',
  summary: 'Read a secret',
  input: { params: secretParams, query: secretQuery, headers: conditionalHeaders },
  responses: { 200: secretView, 304: null },
});

export const putSecret = endpoint({
  method: 'PUT',
  path: '/secrets/{org}/{project}/{env}/{key}',
  operation: 'putSecret',
  summary: 'Set a secret',
  input: { params: secretParams, body: putSecretBody, bodyLimits: bodyLimits.value },
  responses: { 200: secretWriteView, 201: secretWriteView },
});

export const deleteSecret = endpoint({
  method: 'DELETE',
  path: '/secrets/{org}/{project}/{env}/{key}',
  operation: 'deleteSecret',
  summary: 'Delete a secret; its history is kept',
  input: { params: secretParams },
  responses: { 204: null },
});
