import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/snapshot-schedule/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const due = '2026-11-10T02:00:00Z';
const next = '2026-11-11T02:00:00Z';
const name = 'nightly-202611100200';

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  scheduled: [messages.scheduled(next), messages.scheduled(undefined)],
  unchanged: [messages.unchanged({ name, due: next, next: undefined }), messages.unchanged({ name, due, next })],
  missed: [
    messages.missed({ due, deadlineSeconds: 60, next }),
    messages.missed({ due, deadlineSeconds: 60, next: undefined }),
  ],
  snapshotFailed: [
    messages.snapshotFailed({ name, reason: 'AccessDenied', next }),
    messages.snapshotFailed({ name, reason: 'AccessDenied', next: undefined }),
  ],
  invalidTimes: [
    messages.invalidTimes('schedule', '"0 0 30 2 *" never runs: none of its months has such a day', undefined),
  ],
  templateRefused: [messages.templateRefused(undefined)],
  nameTaken: [messages.nameTaken(name)],
  created: [messages.created(name)],
  prunedEvent: [
    messages.prunedEvent([name]),
    messages.prunedEvent(Array.from({ length: 7 }, (_, index) => `nightly-${index}`)),
  ],
  pruned: [messages.pruned],
};

test('every message of a SnapshotSchedule is in its golden file', () => {
  expectGolden('snapshot-schedule', [[messages, samples]]);
});
