import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/secret-snapshot/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const place = 'acme/web/prod';

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  held: [
    messages.held({ id: 'snapshot-1', secretCount: 1, place, revision: 7 }),
    messages.held({ id: 'snapshot-1', secretCount: 12, place, revision: 7 }),
  ],
  environmentDeleted: [messages.environmentDeleted(place)],
  snapshotGone: [messages.snapshotGone],
  noSource: [messages.noSource()],
};

test('every message of a SecretSnapshot is in its golden file', () => {
  expectGolden('secret-snapshot', [[messages, samples]]);
});
