import {
  changeListView,
  changesHeaders,
  changesQuery,
  revertBody,
  revertParams,
  revertView,
  streamEventView,
} from '../changes.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.10 and 4.14 */

export const listChanges = endpoint({
  method: 'GET',
  path: '/changes/{org}/{project}/{env}',
  operation: 'listChanges',
  summary: 'List the changes of an environment, or stream them as server-sent events',
  input: { query: changesQuery, headers: changesHeaders },
  responses: { 200: changeListView, events: streamEventView },
});

export const revertChange = endpoint({
  method: 'POST',
  path: '/changes/{org}/{project}/{env}/{revision}/revert',
  operation: 'revertChange',
  summary: 'Revert one revision of an environment, or plan it',
  input: { params: revertParams, body: revertBody, idempotencyKey: true },
  responses: { 200: revertView },
});
