import { expect, test } from '@jest/globals';
import { grantOutcome } from '../../../src/controller/kinds/access-grant/index.ts';
import * as messages from '../../../src/controller/kinds/access-grant/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const samples: Samples<typeof messages> = {
  granted: [messages.granted(1, []), messages.granted(12, []), messages.granted(1, ['shopp', 'later'])],
  noneMatches: [messages.noneMatches],
  noneExists: [messages.noneExists],
};

test('every message of an AccessGrant is in its golden file', () => {
  expectGolden('access-grant', [[messages, samples]]);
});

test('an AccessGrant reports which namespaces of its list do not exist', () => {
  const report = (...namespaces: string[]): string => grantOutcome({ namespaces }, ['shop']).claim.message;
  expect(report('shop', 'shopp')).toContain('do not exist: shopp.');
  expect(report('shop')).not.toContain('do not exist');
  expect(report('*')).not.toContain('do not exist');
});
