import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/access-grant/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const samples: Samples<typeof messages> = {
  granted: [messages.granted(1), messages.granted(12)],
  noneMatches: [messages.noneMatches],
  noneExists: [messages.noneExists],
};

test('every message of an AccessGrant is in its golden file', () => {
  expectGolden('access-grant', [[messages, samples]]);
});
