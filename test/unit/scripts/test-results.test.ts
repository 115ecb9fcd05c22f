import { describe, expect, test } from '@jest/globals';
import {
  countReport,
  fuzzResult,
  type JestReport,
  sum,
  summaryLines,
  withRequired,
} from '../../../scripts/test-run/results.ts';

function reportOf(...files: string[][]): JestReport {
  const results = files.flat();
  return {
    numTotalTests: results.length,
    numPassedTests: results.filter((status) => status === 'passed').length,
    testResults: files.map((statuses) => ({
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: statuses.map((status) => ({ status })),
    })),
  };
}

describe('a suite counts', () => {
  test('what passed and what failed', () => {
    expect(countReport(reportOf(['passed', 'failed'], ['passed']), 1)).toEqual({ passed: 2, failed: 1 });
  });

  test.each(['pending', 'skipped', 'todo', 'disabled'])('a test that is %s as failed', (status) => {
    expect(countReport(reportOf(['passed', status]), 0)).toEqual({ passed: 1, failed: 1 });
  });

  test('a file that did not load as one failure', () => {
    const broken = { status: 'failed', assertionResults: [] };
    const report = reportOf(['passed']);
    expect(countReport({ ...report, testResults: [...report.testResults, broken] }, 1)).toEqual({
      passed: 1,
      failed: 1,
    });
  });

  test('a file whose clean-up threw after its tests had passed as one failure more', () => {
    const unclean = { status: 'failed', assertionResults: [{ status: 'passed' }] };
    expect(countReport({ ...reportOf(['passed', 'failed'], ['passed']), testResults: [unclean] }, 1)).toEqual({
      passed: 2,
      failed: 2,
    });
  });

  test('a run that failed though no test did as one failure', () => {
    expect(countReport(reportOf(['passed']), 1)).toEqual({ passed: 1, failed: 1 });
    expect(countReport(reportOf(['passed']), undefined)).toEqual({ passed: 1, failed: 1 });
  });

  test('a run that left no report as one failure, whatever its exit code', () => {
    expect(countReport(undefined, 0)).toEqual({ passed: 0, failed: 1 });
  });
});

describe('the fuzzer counts', () => {
  const run = { exitCode: 0, durationMs: 5 };

  test('what it told', () => {
    const told = fuzzResult({ passed: 7, failed: 2 }, { ...run, exitCode: 1 });
    expect(told).toEqual({ name: 'fuzz', durationMs: 5, counts: { passed: 7, failed: 2 } });
  });

  test.each([
    ['left nothing', undefined, 1],
    ['left nothing and ended well', undefined, 0],
    ['checked nothing', { passed: 0, failed: 0 }, 0],
    ['failed without saying where', { passed: 7, failed: 0 }, undefined],
  ])('as one failure when it %s', (_case, outcome, exitCode) => {
    expect(fuzzResult(outcome, { ...run, exitCode }).counts?.failed).toBe(1);
  });

  test('as not run where it is not installed, with what to install; as failed where it is required', () => {
    const result = fuzzResult({ missing: 'install Python' }, { ...run, exitCode: 1 });
    expect(result).toEqual({ name: 'fuzz', durationMs: 5, note: 'not run: install Python' });
    expect(sum(withRequired([result], ['fuzz']))).toEqual({ passed: 0, failed: 1 });
    expect(summaryLines(withRequired([result], ['fuzz'])).join()).toContain('install Python');
  });
});

describe('a required step', () => {
  const unit = { name: 'unit', counts: { passed: 3, failed: 0 }, durationMs: 1 };
  const kind = { name: 'kind', durationMs: 0, note: 'not run: no Docker' };

  test('that ran is counted as it is', () => {
    expect(withRequired([unit, kind], ['unit'])).toEqual([unit, kind]);
  });

  test('that was not run counts as one failure, with the reason', () => {
    const results = withRequired([unit, kind], ['unit', 'kind']);
    expect(sum(results)).toEqual({ passed: 3, failed: 1 });
    expect(summaryLines(results).join('\n')).toContain('not run: no Docker, but KEYFRAME_TEST_REQUIRE names it');
  });

  test('that is in none of the results counts as one failure, however often it is named', () => {
    const results = withRequired([unit], ['unit', 'e2e', 'e2e']);
    expect(sum(results)).toEqual({ passed: 3, failed: 1 });
    expect(results.map(({ name }) => name)).toEqual(['unit', 'e2e']);
  });

  test('that ran no test counts as one failure', () => {
    const empty = { name: 'unit', counts: { passed: 0, failed: 0 }, durationMs: 1 };
    expect(sum(withRequired([empty], ['unit']))).toEqual({ passed: 0, failed: 1 });
  });
});

describe('the summary', () => {
  test('tells the time of each step and ends with the plain sum', () => {
    const lines = summaryLines([
      { name: 'lint', counts: { passed: 1, failed: 0 }, durationMs: 2340 },
      { name: 'unit', counts: { passed: 40, failed: 2 }, durationMs: 12_000 },
      { name: 'kind', durationMs: 0, note: 'not run: no Docker' },
    ]);
    expect(lines).toEqual([
      '  lint  1 passed, 0 failed           2.3 s',
      '  unit  40 passed, 2 failed         12.0 s',
      '  kind    not run: no Docker',
      '41 passed, 2 failed',
    ]);
  });
});
