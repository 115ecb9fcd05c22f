import { expect, test } from '@jest/globals';
import { failureLines, failuresOf } from '../../../tools/test-run/failures.ts';
import type { JestReport } from '../../../tools/test-run/results.ts';

type FileReport = JestReport['testResults'][number];

const file = (name: string, more: Partial<FileReport>): FileReport => {
  return { name, startTime: 1, endTime: 2, status: 'failed', assertionResults: [], ...more };
};
const failed = (fullName: string, message: string): FileReport['assertionResults'][number] => {
  return { status: 'failed', fullName, failureMessages: [message] };
};

test('a failed test is shown with its file, its full title and its message without colors', () => {
  const name = '/x/test/unit/a.test.ts';
  const assertionResults = [
    { status: 'passed' },
    failed('a sum adds', '\u001B[31mExpected: 3\u001B[39m\n\nReceived: 2'),
  ];
  const lines = failureLines(failuresOf({ testResults: [file(name, { assertionResults })] }));
  expect(lines).toEqual([
    'Failed:',
    '  test/unit/a.test.ts',
    '    a sum adds',
    '      Expected: 3',
    '      Received: 2',
    '',
  ]);
});

test('a file that did not load is shown with the reason', () => {
  const report = { testResults: [file('/x/test/e2e/b.test.ts', { message: 'Cannot find module' })] };
  expect(failuresOf(report)).toEqual([
    { path: 'test/e2e/b.test.ts', title: 'the file', message: 'Cannot find module' },
  ]);
});

test('nothing is shown if nothing failed', () => {
  const report = { testResults: [file('/x/test/unit/a.test.ts', { status: 'passed' })] };
  expect(failureLines(failuresOf(report))).toEqual([]);
});

test('a long message is shown up to its twelfth line, without the frames of libraries', () => {
  const message = [
    'why',
    '    at /x/node_modules/y.js:1:1',
    ...Array.from({ length: 20 }, (_, index) => `line ${index}`),
  ];
  const lines = failureLines([{ path: 'p', title: 't', message: message.join('\n') }]);
  expect(lines.slice(3, -1)).toEqual(
    ['why', ...Array.from({ length: 11 }, (_, index) => `line ${index}`)].map((l) => `      ${l}`),
  );
});

test('of many failures, the first twenty are shown', () => {
  const failures = Array.from({ length: 23 }, (_, index) => ({ path: `p${index}`, title: 't', message: 'm' }));
  const lines = failureLines(failures);
  expect(lines.filter((line) => line.startsWith('  p'))).toHaveLength(20);
  expect(lines.at(-2)).toBe('  and 3 more');
});
