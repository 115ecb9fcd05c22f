import {
  destroyBody,
  destroyedVersionView,
  rollbackBody,
  rollbackView,
  versionListView,
  versionParams,
  versionWithValueView,
} from '../versions.ts';
import { pageQuery } from '../page.ts';
import { secretParams } from '../secrets.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.6, 4.7 and 4.11 */

export const listVersions = endpoint({
  method: 'GET',
  path: '/versions/{org}/{project}/{env}/{key}',
  operation: 'listVersions',
  summary: 'List the versions of a secret, newest first',
  input: { params: secretParams, query: pageQuery },
  responses: { 200: versionListView },
});

export const rollbackSecret = endpoint({
  method: 'POST',
  path: '/versions/{org}/{project}/{env}/{key}/rollback',
  operation: 'rollbackSecret',
  summary: 'Roll back a secret to an earlier version',
  input: { params: secretParams, body: rollbackBody, idempotencyKey: true },
  responses: { 201: rollbackView, 200: rollbackView },
});

export const getVersion = endpoint({
  method: 'GET',
  path: '/versions/{org}/{project}/{env}/{key}/{version}',
  operation: 'getVersion',
  summary: 'Read one version of a secret with its value',
  input: { params: versionParams },
  responses: { 200: versionWithValueView },
});

export const destroyVersion = endpoint({
  method: 'POST',
  path: '/versions/{org}/{project}/{env}/{key}/{version}/destroy',
  operation: 'destroyVersion',
  summary: 'Permanently destroy the value of one version; its record is kept',
  input: { params: versionParams, body: destroyBody },
  responses: { 200: destroyedVersionView },
});
