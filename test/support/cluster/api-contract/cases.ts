import { applyCases } from './applies.ts';
import { deletionCases } from './deletions.ts';
import { listCases, readCases, watchCases } from './reads.ts';
import { eventCases, leaseCases } from './records.ts';
import type { ContractCase } from './site.ts';
import { creationCases, patchCases, statusCases, updateCases } from './writes.ts';

/**
 * What the tests of the controller take for granted about the API server. `test/unit/controller/fake-cluster.test.ts` runs the
 * cases on the cluster in memory, `test/e2e/api-contract.test.ts` on a real API server.
 */
export const contractCases: readonly (readonly [subject: string, cases: readonly ContractCase[]])[] = [
  ['a read', readCases],
  ['a list', listCases],
  ['a watch', watchCases],
  ['a creation', creationCases],
  ['an update', updateCases],
  ['a merge patch', patchCases],
  ['a write of the status', statusCases],
  ['a server-side apply', applyCases],
  ['a deletion', deletionCases],
  ['an Event', eventCases],
  ['a Lease', leaseCases],
];
