import { consumerListView, consumersQuery, fleetView } from '../consumers.ts';
import { pageQuery } from '../page.ts';
import { waitingRestoreListView } from '../waiting-restores.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md 4.15 */

export const listConsumers = endpoint({
  method: 'GET',
  path: '/environments/{org}/{project}/{env}/consumers',
  operation: 'listConsumers',
  summary: 'List the SecretSyncs that read an environment',
  input: { query: consumersQuery },
  responses: { 200: consumerListView },
});

export const listFleet = endpoint({
  method: 'GET',
  path: '/fleet/{org}',
  operation: 'listFleet',
  summary: 'List the SecretSyncs that read the environments of an organization',
  input: { query: consumersQuery },
  responses: { 200: fleetView },
});

export const listWaitingRestores = endpoint({
  method: 'GET',
  path: '/fleet/{org}/restores',
  operation: 'listWaitingRestores',
  summary: 'List the SnapshotRestores of an organization whose plan waits for an approval',
  input: { query: pageQuery },
  responses: { 200: waitingRestoreListView },
});
