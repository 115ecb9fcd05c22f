import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';
import { kindFault } from '../devcluster/cluster/discovery.ts';
import { nodeFault } from '../devcluster/cluster/node/node-fault.ts';
import { thisMachine } from '../devcluster/cluster/this-machine.ts';
import type { CommandResult, Commands } from './commands.ts';
import {
  type CheckName,
  isCheck,
  isPooled,
  kubernetesNames,
  kubernetesVersionOf,
  type Plan,
  type PooledName,
  type StepName,
} from './plan.ts';
import { failuresOf } from './failures.ts';
import {
  countReport,
  type FuzzOutcome,
  fuzzResult,
  type JestReport,
  poolResults,
  type StepResult,
  sum,
  timedFiles,
} from './results.ts';
import { filesLeftOut } from './size.ts';

export interface StepContext {
  readonly commands: Commands;
  readonly plan: Plan;
  /** Called with each process that a step starts. */
  readonly onStart: (pid: number, step: string) => void;
  readonly write: (text: string) => void;
}

type SingleSuite = 'unit' | 'node' | 'kind' | (typeof kubernetesNames)[number];

const modules = join(checkoutDirectory, 'node_modules');
const reports = join(checkoutDirectory, 'reports');
const minuteMs = 60_000;
// Most of the time is spent waiting for PostgreSQL, Kubernetes and timers: four files at once keep two cores busy. With their
// servers and clusters they need up to 2 GiB each.
const workers = Math.max(totalmem() < 12 * 2 ** 30 ? 3 : 4, availableParallelism() - 1);
// Most checks are busy on one core.
const checksAtOnce = 2;
// Long enough for the first build of Kubernetes on a slow machine.
const suiteLimitMs = { default: 80 * minuteMs, full: 240 * minuteMs };

type Command = readonly [program: string, ...args: string[]];

/** The commands of each check, which run one after the other until one fails. */
const checks: Readonly<Record<CheckName, readonly Command[]>> = {
  format: [
    [tool('prettier'), '--check', '.', '--cache', '--cache-strategy=content', `--cache-location=${cached('prettier')}`],
  ],
  lint: [
    [tool('oxlint'), '--type-aware', '--deny-warnings'],
    [tool('redocly'), 'lint'],
  ],
  typecheck: [
    typesOf('tsconfig.json', { checkers: 2, cache: 'types.tsbuildinfo' }),
    // With the language of the oldest Node.js that runs the command.
    typesOf('tsconfig.command.json', { checkers: 1, cache: 'command.tsbuildinfo' }),
    typesOf('src/dashboard', { checkers: 1, cache: 'dashboard.tsbuildinfo' }),
  ],
  'dead-code': [[tool('knip')]],
  generated: [[process.execPath, 'tools/generate/main.ts', '--check']],
  build: [[process.execPath, 'tools/build/main.ts']],
};

/**
 * Runs the steps of a plan: first what answers soon, the checks, two at a time, and beside them the unit suite; then the suites
 * of the pool, and beside them the suite on the node, which mostly waits, and the fuzzer; last the suites on other clusters.
 * Returns their results in the order of the plan.
 */
export async function runSteps(context: StepContext): Promise<StepResult[]> {
  const { steps } = context.plan;
  const named = (...names: readonly StepName[]): StepName[] => steps.filter((name) => names.includes(name));
  const results = await runFirst(context);
  const pooled = steps.filter(isPooled);
  // Two commands that both print as they go would be unreadable.
  const quiet = pooled.length === 0 ? context : { ...context, keepOutput: true };
  const [fromPool, fromBeside] = await Promise.all([
    runPool(pooled, context),
    // The node suite takes longer.
    inTurn(named('node', 'fuzz').toReversed(), quiet),
  ]);
  results.push(...fromPool, ...fromBeside, ...(await inTurn(named('kind', ...kubernetesNames), context)));
  return results.toSorted((a, b) => steps.indexOf(a.name as StepName) - steps.indexOf(b.name as StepName));
}

/** The checks and the unit suite. Says how they ended if other suites follow. */
async function runFirst(context: StepContext): Promise<StepResult[]> {
  const { steps } = context.plan;
  const begun = performance.now();
  // Each takes the next one that none has taken.
  const waiting = steps.filter(isCheck).values();
  const lanes = Array.from({ length: checksAtOnce }, () => inTurn(waiting, context));
  const unit = inTurn(
    steps.filter((name) => name === 'unit'),
    context,
  );
  const results = (await Promise.all([...lanes, unit])).flat();
  if (results.length > 0 && results.length < steps.length) {
    const { passed, failed } = sum(results);
    const minutes = ((performance.now() - begun) / minuteMs).toFixed(1);
    context.write(`\nChecks and unit tests: ${passed} passed, ${failed} failed after ${minutes} minutes.\n\n`);
  }
  return results;
}

interface QuietContext extends StepContext {
  /** Prints what a suite writes when it ends, instead of as it comes. */
  readonly keepOutput?: boolean;
}

async function inTurn(names: Iterable<StepName>, context: QuietContext): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const name of names) {
    if (context.commands.interrupted) results.push({ name, durationMs: 0, note: 'not run' });
    else results.push(await runStep(name, context));
  }
  return results;
}

function runStep(name: StepName, context: QuietContext): Promise<StepResult> {
  if (isCheck(name)) return runCheck(name, context);
  if (name === 'fuzz') return runFuzz(context);
  return runSingle(name as SingleSuite, context);
}

async function runCheck(name: CheckName, { commands, onStart, write }: StepContext): Promise<StepResult> {
  const results: CommandResult[] = [];
  for (const [program, ...args] of checks[name]) {
    results.push(await commands.run(program, args, { limitMs: 15 * minuteMs, onStart: (pid) => onStart(pid, name) }));
    if (results.at(-1)?.exitCode !== 0) break;
  }
  const failure = results.find(({ exitCode }) => exitCode !== 0);
  if (failure !== undefined) write(`${failure.output.trimEnd()}\n`);
  const passed = failure === undefined;
  const durationMs = results.reduce((total, result) => total + result.durationMs, 0);
  write(`${name} ${passed ? 'passed' : 'FAILED'}\n`);
  return { name, counts: { passed: passed ? 1 : 0, failed: passed ? 0 : 1 }, durationMs };
}

async function runFuzz(context: QuietContext): Promise<StepResult> {
  const reportFile = reportOf('fuzz');
  const run = await runSuite('fuzz', ['tools/fuzz/main.ts'], context);
  return fuzzResult(readReport(reportFile) as FuzzOutcome | undefined, run);
}

async function runPool(names: readonly PooledName[], context: StepContext): Promise<StepResult[]> {
  if (names.length === 0) return [];
  if (context.commands.interrupted) return names.map((name) => ({ name, durationMs: 0, note: 'not run' }));
  const leftOut = names.map((name) => leftOutOf(name, context.plan));
  const reportFile = reportOf('pool');
  const args = jestArguments(names, { reportFile, workers, leftOut: leftOut.flat() });
  const { exitCode, durationMs } = await runSuite('pool', args, context);
  const report = readReport(reportFile) as JestReport | undefined;
  const results = poolResults(names, report, { exitCode, durationMs });
  return results.map((result, index) => ({ ...result, leftOut: leftOut[index]?.length ?? 0 }));
}

async function runSingle(name: SingleSuite, context: QuietContext): Promise<StepResult> {
  const fault = suiteFault(name);
  if (fault !== undefined) {
    const note = `not run: ${fault}`;
    context.write(`${name} ${note}\n`);
    return { name, durationMs: 0, note };
  }
  const reportFile = reportOf(name);
  const leftOut = kubernetesVersionOf(name) === undefined ? leftOutOf(name, context.plan) : filesLeftOut('e2e');
  const args = jestArguments(projectsOf(name), { reportFile, workers: workersOf(name), leftOut });
  const { exitCode, durationMs } = await runSuite(name, args, context);
  const report = readReport(reportFile) as JestReport | undefined;
  const shared = { name, durationMs, leftOut: leftOut.length };
  if (report?.testResults.length === 0 && exitCode === 0) return { ...shared, note: 'has no tests' };
  return { ...shared, counts: countReport(report, exitCode), files: timedFiles(report), failures: failuresOf(report) };
}

function leftOutOf(suite: string, { size }: Plan): readonly string[] {
  return size === 'full' ? [] : filesLeftOut(suite === 'kind' ? 'e2e' : suite);
}

function workersOf(name: SingleSuite): number {
  // A release on the node serves all namespaces: there is one at a time.
  if (name === 'node') return 1;
  // Unit tests wait for nothing.
  return name === 'unit' ? availableParallelism() : workers;
}

/** Why a suite cannot run on this machine; undefined if it can. */
function suiteFault(name: SingleSuite): string | undefined {
  const machine = thisMachine(process.env);
  if (name === 'unit' || kubernetesVersionOf(name) !== undefined) return undefined;
  if (name === 'node') return nodeFault(machine);
  const fault = kindFault(machine);
  return fault?.startsWith('docker') === true ? `no Docker (${fault})` : fault;
}

// The kind suite is the end-to-end suite on a cluster of kind's, and the built image and the chart on another one. What looks
// at the image goes with what runs it on the node.
function projectsOf(name: SingleSuite): readonly string[] {
  if (name === 'unit') return ['unit'];
  if (name === 'node') return ['image', 'node'];
  return name === 'kind' ? ['e2e', 'kind'] : ['e2e'];
}

async function runSuite(
  name: string,
  args: readonly string[],
  { commands, plan, onStart, write, keepOutput = false }: QuietContext,
): Promise<CommandResult> {
  if (keepOutput) write(`${name} runs beside the other suites; its output follows when it ends.\n`);
  const result = await commands.run(process.execPath, args, {
    env: suiteEnvironment(name, plan),
    shown: !keepOutput,
    limitMs: suiteLimitMs[plan.size],
    onStart: (pid) => onStart(pid, name),
  });
  if (keepOutput) write(`${result.output.trimEnd()}\n`);
  return result;
}

interface JestRun {
  readonly reportFile: string;
  readonly workers: number;
  /** Test files that do not run. */
  readonly leftOut: readonly string[];
}

function jestArguments(projects: readonly string[], run: JestRun): string[] {
  return [
    join(modules, 'jest', 'bin', 'jest.js'),
    '--selectProjects',
    ...projects,
    '--passWithNoTests',
    `--maxWorkers=${run.workers}`,
    '--json',
    '--outputFile',
    run.reportFile,
    // Jest then ignores these patterns alone, no longer its default.
    ...['/node_modules/', ...run.leftOut.map((path) => `/${path.replaceAll('.', '\\.')}$`)].map(
      (pattern) => `--testPathIgnorePatterns=${pattern}`,
    ),
  ];
}

function suiteEnvironment(name: string, { size, seed, isIsolated, shuffleSeed }: Plan): NodeJS.ProcessEnv {
  const env = {
    ...process.env,
    KEYFRAME_TEST_SCALE: size,
    KEYFRAME_TEST_SEED: String(seed),
    ...(isIsolated ? { KEYFRAME_TEST_ISOLATED: '1' } : {}),
    ...(shuffleSeed === undefined ? {} : { KEYFRAME_TEST_SHUFFLE: String(shuffleSeed) }),
  };
  if (name === 'kind') return { ...env, KEYFRAME_TEST_KUBECONFIG: '', KEYFRAME_TEST_CLUSTER_SOURCE: 'kind' };
  const version = kubernetesVersionOf(name);
  return version === undefined ? env : { ...env, KEYFRAME_TEST_SCALE: 'default', KEYFRAME_TEST_KUBERNETES: version };
}

/** The file that a suite leaves its report in, without the report of an earlier run. */
function reportOf(name: string): string {
  mkdirSync(reports, { recursive: true });
  const file = join(reports, `${name}.json`);
  rmSync(file, { force: true });
  return file;
}

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** Each checker works out the types of the contract for itself: with the four of the default, that takes longer than all else. */
function typesOf(project: string, { checkers, cache }: { readonly checkers: number; readonly cache: string }): Command {
  const incremental = ['--incremental', '--tsBuildInfoFile', cached(cache)];
  return [tool('tsc'), '-p', project, '--checkers', String(checkers), ...incremental];
}

/** Where a check keeps what it found out about files that have not changed. A fresh clone has none. */
function cached(name: string): string {
  return join(modules, '.cache', 'keyframe', name);
}

function tool(name: string): string {
  return join(modules, '.bin', name);
}
