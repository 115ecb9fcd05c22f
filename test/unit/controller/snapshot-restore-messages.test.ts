import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/snapshot-restore/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const counts = { restored: 2, recreated: 0, unchanged: 0, skipped: 1, destroyed: 1, pruned: 1 };
const facts = { environment: 'acme/web/prod', revision: 7, snapshotId: 'snapshot-1', counts };
const approval = { namespace: 'team-a', name: 'back', planHash: 'hash' };
const slugs = { organization: 'acme', project: 'web', environment: 'prod' };
const noChange = { ...counts, restored: 0, pruned: 0 };
const missing = messages.fieldsMissing(['spec.environmentRef', 'spec.backup: true']);

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  plan: [messages.plan(facts)],
  planned: [messages.planned(facts, approval)],
  outdated: [messages.outdated(facts, approval)],
  complete: [
    messages.complete({ ...facts, revision: 8, backupSnapshotId: 'backup-1' }),
    messages.complete({ ...facts, revision: 8, counts: { ...noChange, recreated: 3 }, backupSnapshotId: 'backup-1' }),
    messages.complete({ ...facts, counts: noChange, backupSnapshotId: null }),
  ],
  snapshotNotFound: [messages.snapshotNotFound('good')],
  snapshotNotReady: [messages.snapshotNotReady('good', 'team-a')],
  snapshotGone: [messages.snapshotGone('good')],
  snapshotReplaced: [messages.snapshotReplaced('good', 'uid-1')],
  environmentDeleted: [messages.environmentDeleted(slugs)],
  wrongEnvironment: [messages.wrongEnvironment(slugs, { organization: 'acme', project: 'web', name: 'staging' })],
  restoreForgotten: [messages.restoreForgotten()],
  nothingApproved: [messages.nothingApproved()],
  fieldsMissing: [missing],
  unplannedRefused: [
    messages.unplannedRefused(missing),
    messages.unplannedRefused(messages.snapshotNotFound('good').detail),
  ],
};

test('every message of a SnapshotRestore is in its golden file', () => {
  expectGolden('snapshot-restore', [[messages, samples]]);
});
