import { type Failure, failuresOf, pathInRepository } from './failures.ts';

/** The result of a step. */
export interface StepResult {
  readonly name: string;
  /** Absent if it did not run; then `note` says why. */
  readonly counts?: Counts;
  /** Of a suite of the pool: the sum over its files, several of which run at once. */
  readonly durationMs: number;
  readonly note?: string;
  readonly files?: readonly TimedFile[];
  readonly failures?: readonly Failure[];
  /** How many test files the size left out. */
  readonly leftOut?: number;
}

/** A test file, by its path from the top of the repository. */
export interface TimedFile {
  readonly path: string;
  readonly durationMs: number;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** The part of Jest's --json report that is read here; see https://jestjs.io/docs/cli#--json */
export interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    /** Milliseconds since the epoch; 0 for a file that did not load. */
    readonly startTime: number;
    readonly endTime: number;
    readonly status: string;
    /** Why the file failed. */
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName?: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

interface RunPlan {
  readonly size: string;
  readonly seed: number;
  readonly shuffleSeed: number | undefined;
}

interface SuiteRun {
  readonly exitCode: number | undefined;
  readonly durationMs: number;
}

/**
 * Counts a suite by Jest's report and exit code: whatever did not pass has failed, be it skipped, still to be written or
 * left out by `.only`. A file that failed without a failed test (it did not load, or its clean-up threw) counts as one, and so
 * does a run that failed although its report shows no failure, or that left no report.
 */
export function countReport(report: JestReport | undefined, exitCode: number | undefined): Counts {
  if (report === undefined) return { passed: 0, failed: 1 };
  const { passed, failed } = countFiles(report.testResults);
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/**
 * Splits the report of several suites that ran in one pool, by the folder of each file below test/. If the run failed but no
 * test did, or left no report, the first suite counts one failure.
 */
export function poolResults(names: readonly string[], report: JestReport | undefined, run: SuiteRun): StepResult[] {
  const isLost = countReport(report, run.exitCode).failed > countFiles(report?.testResults ?? []).failed;
  return names.map((name, index) => {
    const results = (report?.testResults ?? []).filter((file) => file.name.includes(`/test/${name}/`));
    const { passed, failed } = countFiles(results);
    const files = timed(results);
    const failures = failuresOf({ testResults: results });
    const durationMs = files.reduce((total, file) => total + file.durationMs, 0);
    if (isLost && index === 0) return { name, counts: { passed, failed: failed + 1 }, durationMs, files, failures };
    if (results.length === 0) return { name, durationMs, note: 'has no tests' };
    return { name, counts: { passed, failed }, durationMs, files, failures };
  });
}

/** How long each file of a report took. */
export function timedFiles(report: JestReport | undefined): TimedFile[] {
  return timed(report?.testResults ?? []);
}

function timed(results: JestReport['testResults']): TimedFile[] {
  return results.map(({ name, startTime, endTime }) => ({
    path: pathInRepository(name),
    durationMs: Math.max(0, endTime - startTime),
  }));
}

function countFiles(results: JestReport['testResults']): Counts {
  const tests = results.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return { passed, failed: tests.length - passed + results.filter(failedAsWhole).length };
}

/** What tools/fuzz/main.ts leaves: its counts, or what must be installed for it. */
export interface FuzzOutcome {
  readonly passed?: number;
  readonly failed?: number;
  readonly missing?: string;
}

/** The result of the fuzzer, which has printed its failures itself. A run that left nothing has failed. */
export function fuzzResult(outcome: FuzzOutcome | undefined, { exitCode, durationMs }: SuiteRun): StepResult {
  const { passed = 0, failed = 0, missing: lacking } = outcome ?? {};
  if (lacking !== undefined) return { name: 'fuzz', durationMs, note: `not run: ${lacking}` };
  const isUntold = failed === 0 && (exitCode !== 0 || passed === 0);
  return { name: 'fuzz', durationMs, counts: { passed, failed: isUntold ? 1 : failed } };
}

function failedAsWhole({ status, assertionResults }: JestReport['testResults'][number]): boolean {
  return status === 'failed' && assertionResults.every((result) => result.status !== 'failed');
}

/** The results with one failure for each required name that did not run, known or not. */
export function withRequired(results: readonly StepResult[], required: readonly string[]): StepResult[] {
  const lacking = new Set(required.filter((name) => !results.some((result) => result.name === name && ran(result))));
  const judged = results.map((result) => (lacking.has(result.name) ? missing(result.name, result.note) : result));
  const unheard = [...lacking].filter((name) => !results.some((result) => result.name === name));
  return [...judged, ...unheard.map((name) => missing(name, 'not run'))];
}

function ran({ counts }: StepResult): boolean {
  return counts !== undefined && counts.passed + counts.failed > 0;
}

function missing(name: string, note = 'has no tests'): StepResult {
  return { name, counts: { passed: 0, failed: 1 }, durationMs: 0, note: `${note}, but KEYFRAME_TEST_REQUIRE names it` };
}

/** The sum of all that ran. */
export function sum(results: readonly StepResult[]): Counts {
  const add = (key: keyof Counts): number => results.reduce((total, { counts }) => total + (counts?.[key] ?? 0), 0);
  return { passed: add('passed'), failed: add('failed') };
}

const maxSlowFiles = 10;

/** A line for each of the slowest files; none if no step has files. */
export function slowestLines(results: readonly StepResult[]): string[] {
  const files = results.flatMap((result) => result.files ?? []);
  if (files.length === 0) return [];
  const slowest = files.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, maxSlowFiles);
  return ['Slowest files:', ...slowest.map(({ path, durationMs }) => `  ${seconds(durationMs)}  ${path}`), ''];
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
}

/** What ran, and how to run it again. */
export function sizeLines(results: readonly StepResult[], { size, seed, shuffleSeed }: RunPlan): string[] {
  const short = results.filter(({ leftOut = 0 }) => leftOut > 0);
  const total = short.reduce((count, { leftOut = 0 }) => count + leftOut, 0);
  const each = short.map(({ name, leftOut }) => `${name} ${leftOut}`).join(', ');
  const without = total === 0 ? '' : `, without ${total} test files (${each}), which run with --full`;
  const order = shuffleSeed === undefined ? '' : ` Order: --shuffled=${shuffleSeed}.`;
  return [`Size: ${size}${without}. Seed: KEYFRAME_TEST_SEED=${seed}.${order}`];
}

/** A line for each step, and last the plain sum that machines read. */
export function summaryLines(results: readonly StepResult[]): string[] {
  const width = Math.max(...results.map(({ name }) => name.length), 0);
  const lines = results.map(({ name, counts, durationMs, note }) => {
    const outcome = counts === undefined ? '' : `${counts.passed} passed, ${counts.failed} failed`.padEnd(26);
    const time = counts === undefined ? '' : seconds(durationMs);
    return `  ${name.padEnd(width)}  ${outcome}${time}${note === undefined ? '' : `  ${note}`}`.trimEnd();
  });
  const { passed, failed } = sum(results);
  return [...lines, `${passed} passed, ${failed} failed`];
}
