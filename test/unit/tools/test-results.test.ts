import { describe, expect, test } from '@jest/globals';
import {
  countReport,
  fuzzResult,
  type JestReport,
  poolResults,
  sizeLines,
  slowestLines,
  sum,
  summaryLines,
  withRequired,
} from '../../../tools/test-run/results.ts';

function reportOf(...files: string[][]): JestReport {
  return { testResults: files.map((statuses, index) => fileOf(`/x/test/unit/${index}.test.ts`, statuses)) };
}

function fileOf(name: string, statuses: string[], seconds = 1): JestReport['testResults'][number] {
  return {
    name,
    startTime: 1_000,
    endTime: 1_000 + seconds * 1_000,
    status: statuses.includes('failed') ? 'failed' : 'passed',
    assertionResults: statuses.map((status) => ({ status })),
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
    const broken = { ...fileOf('/x/test/unit/b.test.ts', []), status: 'failed' };
    const report = reportOf(['passed']);
    expect(countReport({ testResults: [...report.testResults, broken] }, 1)).toEqual({
      passed: 1,
      failed: 1,
    });
  });

  test('a file whose clean-up threw after its tests had passed as one failure more', () => {
    const unclean = { ...fileOf('/x/test/unit/b.test.ts', ['passed']), status: 'failed' };
    const report = reportOf(['passed', 'failed']);
    expect(countReport({ testResults: [...report.testResults, unclean] }, 1)).toEqual({ passed: 2, failed: 2 });
  });

  test('a run that failed though no test did as one failure', () => {
    expect(countReport(reportOf(['passed']), 1)).toEqual({ passed: 1, failed: 1 });
    expect(countReport(reportOf(['passed']), undefined)).toEqual({ passed: 1, failed: 1 });
  });

  test('a run that left no report as one failure, whatever its exit code', () => {
    expect(countReport(undefined, 0)).toEqual({ passed: 0, failed: 1 });
  });
});

describe('the suites of a pool', () => {
  const report: JestReport = {
    testResults: [
      fileOf('/x/test/e2e/a.test.ts', ['passed', 'failed'], 30),
      fileOf('/x/test/unit/a.test.ts', ['passed'], 1),
      fileOf('/x/test/unit/b.test.ts', ['passed', 'passed'], 2),
    ],
  };
  const names = ['unit', 'integration', 'e2e'];

  test('count by the folder of each file, with the sum of its times', () => {
    const results = poolResults(names, report, { exitCode: 1, durationMs: 31_000 });
    expect(results).toMatchObject([
      { name: 'unit', counts: { passed: 3, failed: 0 }, durationMs: 3_000 },
      { name: 'integration', note: 'has no tests' },
      { name: 'e2e', counts: { passed: 1, failed: 1 }, durationMs: 30_000 },
    ]);
    expect(results[0]?.files).toEqual([
      { path: 'test/unit/a.test.ts', durationMs: 1_000 },
      { path: 'test/unit/b.test.ts', durationMs: 2_000 },
    ]);
  });

  test('count one failure together if the run failed and none of their tests did', () => {
    const passing = { testResults: report.testResults.slice(1) };
    expect(sum(poolResults(names, passing, { exitCode: 1, durationMs: 1 }))).toEqual({ passed: 3, failed: 1 });
    expect(sum(poolResults(names, passing, { exitCode: 0, durationMs: 1 }))).toEqual({ passed: 3, failed: 0 });
  });

  test('count one failure together if the run left no report', () => {
    expect(sum(poolResults(names, undefined, { exitCode: 0, durationMs: 1 }))).toEqual({ passed: 0, failed: 1 });
  });
});

describe('the slowest files', () => {
  test('are the ten that took longest, of all suites', () => {
    const files = Array.from({ length: 12 }, (_, index) => ({
      path: `test/e2e/${index}.test.ts`,
      durationMs: index * 1_000,
    }));
    const lines = slowestLines([
      { name: 'e2e', durationMs: 1, files },
      { name: 'node', durationMs: 1, files: [{ path: 'test/node/a.test.ts', durationMs: 99_500 }] },
    ]);
    expect(lines.slice(0, 3)).toEqual([
      'Slowest files:',
      '    99.5 s  test/node/a.test.ts',
      '    11.0 s  test/e2e/11.test.ts',
    ]);
    expect(lines).toHaveLength(12);
    expect(lines.at(-1)).toBe('');
  });

  test('are left out if no step has files', () => {
    expect(slowestLines([{ name: 'lint', durationMs: 1 }])).toEqual([]);
  });
});

describe('the line about the size', () => {
  test('has the seed, and the order if it is random', () => {
    expect(sizeLines([], { size: 'full', seed: 7, shuffleSeed: undefined })).toEqual([
      'Size: full. Seed: KEYFRAME_TEST_SEED=7.',
    ]);
    expect(sizeLines([], { size: 'full', seed: 7, shuffleSeed: 5 })).toEqual([
      'Size: full. Seed: KEYFRAME_TEST_SEED=7. Order: --shuffled=5.',
    ]);
  });

  test('counts the files that were left out', () => {
    const results = [
      { name: 'unit', durationMs: 1, leftOut: 0 },
      { name: 'e2e', durationMs: 1, leftOut: 50 },
      { name: 'node', durationMs: 1, leftOut: 7 },
    ];
    expect(sizeLines(results, { size: 'default', seed: 7, shuffleSeed: undefined })).toEqual([
      'Size: default, without 57 test files (e2e 50, node 7), which run with --full. Seed: KEYFRAME_TEST_SEED=7.',
    ]);
  });
});

describe('the fuzzer counts', () => {
  const run = { exitCode: 0, durationMs: 5 };

  test('what it counted', () => {
    const result = fuzzResult({ passed: 7, failed: 2 }, { ...run, exitCode: 1 });
    expect(result).toEqual({ name: 'fuzz', durationMs: 5, counts: { passed: 7, failed: 2 } });
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
  test('shows the time of each step and ends with the plain sum', () => {
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
