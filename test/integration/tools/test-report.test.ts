import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { countReport, type Counts, type JestReport } from '../../../tools/test-run/results.ts';

const run = promisify(execFile);
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-report-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the real Jest on the given test files and counts what it reports, as `npm test` does. */
async function count(files: Record<string, string>): Promise<Counts> {
  writeFileSync(join(folder, 'package.json'), '{}');
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, `${name}.test.js`), source);
  const report = join(folder, 'report.json');
  const args = [
    join(checkoutDirectory, 'node_modules/jest/bin/jest.js'),
    '--rootDir',
    folder,
    '--json',
    '--outputFile',
    report,
  ];
  const exitCode = await run(process.execPath, args, { cwd: folder }).then(
    () => 0,
    (error: { code?: number }) => error.code,
  );
  return countReport(JSON.parse(readFileSync(report, 'utf8')) as JestReport, exitCode);
}

test.each([
  ['a test that passes', `test('a', () => {});`, { passed: 1, failed: 0 }],
  ['a test that fails', `test('a', () => { throw new Error('no'); });`, { passed: 0, failed: 1 }],
  ['a skipped test', `test('a', () => {}); test.skip('b', () => {});`, { passed: 1, failed: 1 }],
  [
    'a file with skipped tests alone',
    `describe.skip('a', () => { test('b', () => {}); test('c', () => {}); });`,
    { passed: 0, failed: 2 },
  ],
  ['a test still to be written', `test('a', () => {}); test.todo('b');`, { passed: 1, failed: 1 }],
  [
    'tests left out by .only',
    `test.only('a', () => {}); test('b', () => {}); test('c', () => {});`,
    { passed: 1, failed: 2 },
  ],
  [
    'a preparation that throws',
    `beforeAll(() => { throw new Error('no'); }); test('a', () => {});`,
    { passed: 0, failed: 1 },
  ],
  [
    'a clean-up that throws',
    `afterAll(() => { throw new Error('no'); }); test('a', () => {});`,
    { passed: 1, failed: 1 },
  ],
  ['a file that does not parse', `test('a', () => {`, { passed: 0, failed: 1 }],
  ['a file without tests', `const a = 1;`, { passed: 0, failed: 1 }],
])('%s counts as it should', async (_name, source, expected) => {
  expect(await count({ planted: source })).toEqual(expected);
});

test('a file that does not load does not hide the tests of another', async () => {
  const counts = await count({ broken: `require('./absent.js');`, whole: `test('a', () => {}); test('b', () => {});` });
  expect(counts).toEqual({ passed: 2, failed: 1 });
});
