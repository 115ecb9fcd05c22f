import { pageQuery } from '../page.ts';
import {
  createSnapshotBody,
  diffQuery,
  placedSnapshotView,
  pruneBody,
  pruneView,
  restoreBody,
  restoreView,
  snapshotDiffView,
  snapshotListView,
  snapshotParams,
  snapshotView,
} from '../snapshots.ts';
import { bodyLimits } from './body-limits.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.1 to 4.3 */

export const listSnapshots = endpoint({
  method: 'GET',
  path: '/snapshots/{org}/{project}/{env}',
  operation: 'listSnapshots',
  summary: 'List the snapshots of an environment, newest first',
  input: { query: pageQuery },
  responses: { 200: snapshotListView },
});

export const createSnapshot = endpoint({
  method: 'POST',
  path: '/snapshots/{org}/{project}/{env}',
  operation: 'createSnapshot',
  summary: 'Create a snapshot of the present state of an environment',
  input: { body: createSnapshotBody, idempotencyKey: true },
  responses: { 201: snapshotView, 200: snapshotView },
});

export const restoreSnapshot = endpoint({
  method: 'POST',
  path: '/snapshots/{org}/{project}/{env}/restore',
  operation: 'restoreSnapshot',
  summary: 'Restore an environment from one of its snapshots, or plan the restore',
  input: { body: restoreBody, bodyLimits: bodyLimits.keySelection, idempotencyKey: true },
  responses: { 200: restoreView },
});

export const pruneSnapshots = endpoint({
  method: 'POST',
  path: '/snapshots/{org}/{project}/{env}/prune',
  operation: 'pruneSnapshots',
  summary: 'Delete the snapshots that a retention policy does not keep, or list them',
  input: { body: pruneBody },
  responses: { 200: pruneView },
});

export const getSnapshot = endpoint({
  method: 'GET',
  path: '/snapshots/{org}/{project}/{env}/{id}',
  operation: 'getSnapshot',
  summary: 'Get a snapshot',
  input: { params: snapshotParams },
  responses: { 200: snapshotView },
});

export const deleteSnapshot = endpoint({
  method: 'DELETE',
  path: '/snapshots/{org}/{project}/{env}/{id}',
  operation: 'deleteSnapshot',
  summary: 'Delete a snapshot',
  input: { params: snapshotParams },
  responses: { 204: null },
});

export const diffSnapshot = endpoint({
  method: 'GET',
  path: '/snapshots/{org}/{project}/{env}/{id}/diff',
  operation: 'diffSnapshot',
  summary: 'Compare a snapshot with the present state or with another snapshot',
  input: { params: snapshotParams, query: diffQuery },
  responses: { 200: snapshotDiffView },
});

export const findSnapshot = endpoint({
  method: 'GET',
  path: '/snapshots/{id}',
  operation: 'findSnapshot',
  summary: 'Get a snapshot and its environment by id',
  input: { params: snapshotParams },
  responses: { 200: placedSnapshotView },
});
