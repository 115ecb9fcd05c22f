/** What a step came to. */
export interface StepResult {
  readonly name: string;
  /** Absent where it did not run; then `note` says why. */
  readonly counts?: Counts;
  readonly durationMs: number;
  readonly note?: string;
}

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** The part of Jest's --json report that is read here; see https://jestjs.io/docs/cli#--json */
export interface JestReport {
  readonly numTotalTests: number;
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}

/**
 * Counts a suite by Jest's report and exit code: whatever did not pass has failed, be it skipped, still to be written or
 * left out by `.only`. A file that failed without a failed test (it did not load, or its clean-up threw) counts as one, and so
 * does a run that failed although its report tells of nothing, or that left no report.
 */
export function countReport(report: JestReport | undefined, exitCode: number | undefined): Counts {
  if (report === undefined) return { passed: 0, failed: 1 };
  const passed = report.numPassedTests;
  const failed = report.numTotalTests - passed + report.testResults.filter(failedAsWhole).length;
  return { passed, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

/** What scripts/fuzz/main.ts leaves: its counts, or what must be installed for it. */
export interface FuzzOutcome {
  readonly passed?: number;
  readonly failed?: number;
  readonly missing?: string;
}

/** The result of the fuzzer, whose failures it has told itself. A run that left nothing has failed. */
export function fuzzResult(outcome: FuzzOutcome | undefined, { exitCode, durationMs }: FuzzRun): StepResult {
  const { passed = 0, failed = 0, missing: lacking } = outcome ?? {};
  if (lacking !== undefined) return { name: 'fuzz', durationMs, note: `not run: ${lacking}` };
  const isUntold = failed === 0 && (exitCode !== 0 || passed === 0);
  return { name: 'fuzz', durationMs, counts: { passed, failed: isUntold ? 1 : failed } };
}

interface FuzzRun {
  readonly exitCode: number | undefined;
  readonly durationMs: number;
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

/** A line for each step, and last the plain sum that machines read. */
export function summaryLines(results: readonly StepResult[]): string[] {
  const width = Math.max(...results.map(({ name }) => name.length), 0);
  const lines = results.map(({ name, counts, durationMs, note }) => {
    const outcome = counts === undefined ? '' : `${counts.passed} passed, ${counts.failed} failed`.padEnd(26);
    const time = counts === undefined ? '' : `${(durationMs / 1000).toFixed(1)} s`.padStart(8);
    return `  ${name.padEnd(width)}  ${outcome}${time}${note === undefined ? '' : `  ${note}`}`.trimEnd();
  });
  const { passed, failed } = sum(results);
  return [...lines, `${passed} passed, ${failed} failed`];
}
