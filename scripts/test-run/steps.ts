import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';
import { kindFault } from '../cluster/discovery.ts';
import { nodeFault } from '../cluster/node/node-fault.ts';
import { thisMachine } from '../cluster/this-machine.ts';
import type { Commands } from './commands.ts';
import { type CheckName, isSuite, type Plan, type StepName, type SuiteName } from './plan.ts';
import { countReport, type FuzzOutcome, fuzzResult, type JestReport, type StepResult } from './results.ts';

export interface StepContext {
  readonly commands: Commands;
  readonly plan: Plan;
  readonly write: (text: string) => void;
}

const modules = join(checkoutDirectory, 'node_modules');
const reports = join(checkoutDirectory, 'reports');
const minuteMs = 60_000;
// Most of the time is spent waiting for PostgreSQL, Kubernetes and timers: two files at once also where Jest takes one by itself.
const workers = Math.max(2, availableParallelism() - 1);
// Long enough for the first build of Kubernetes on a slow machine.
const suiteLimitMs = { short: 60 * minuteMs, full: 240 * minuteMs };

const checks: Readonly<Record<CheckName, readonly [program: string, ...args: string[]]>> = {
  format: [tool('prettier'), '--check', '.'],
  lint: [tool('oxlint'), '--type-aware', '--deny-warnings'],
  typecheck: [tool('tsc'), '-p', 'tsconfig.json'],
  'dead-code': [tool('knip')],
  generated: [process.execPath, 'scripts/generate.ts', '--check'],
  build: [process.execPath, 'scripts/build.ts'],
};

/** Runs one step and tells how it went. */
export function runStep(name: StepName, context: StepContext): Promise<StepResult> {
  if (name === 'fuzz') return runFuzz(context);
  return isSuite(name) ? runSuite(name, context) : runCheck(name, context);
}

async function runFuzz({ commands, plan }: StepContext): Promise<StepResult> {
  const reportFile = join(reports, 'fuzz.json');
  rmSync(reportFile, { force: true });
  const run = await commands.run(process.execPath, ['scripts/fuzz/main.ts'], {
    env: { ...process.env, KEYFRAME_TEST_SCALE: plan.scale },
    shown: true,
    limitMs: suiteLimitMs[plan.scale],
  });
  return fuzzResult(readReport(reportFile) as FuzzOutcome | undefined, run);
}

async function runCheck(name: CheckName, { commands, write }: StepContext): Promise<StepResult> {
  const [program, ...args] = checks[name];
  const { exitCode, output, durationMs } = await commands.run(program, args, { limitMs: 15 * minuteMs });
  const passed = exitCode === 0;
  if (!passed) write(`${output.trimEnd()}\n`);
  write(`${name} ${passed ? 'passed' : 'FAILED'}\n`);
  return { name, counts: { passed: passed ? 1 : 0, failed: passed ? 0 : 1 }, durationMs };
}

async function runSuite(name: Exclude<SuiteName, 'fuzz'>, context: StepContext): Promise<StepResult> {
  const fault = suiteFault(name);
  if (fault !== undefined) {
    const note = `not run: ${fault}`;
    context.write(`${name} ${note}\n`);
    return { name, durationMs: 0, note };
  }
  const { commands, plan } = context;
  const reportFile = join(reports, `${name}.json`);
  mkdirSync(reports, { recursive: true });
  rmSync(reportFile, { force: true });
  const { exitCode, durationMs } = await commands.run(process.execPath, jestArguments(name, reportFile), {
    env: suiteEnvironment(name, plan),
    shown: true,
    limitMs: suiteLimitMs[plan.scale],
  });
  const report = readReport(reportFile) as JestReport | undefined;
  if (report?.testResults.length === 0 && exitCode === 0) return { name, durationMs, note: 'has no tests' };
  return { name, counts: countReport(report, exitCode), durationMs };
}

/** Why a suite cannot run on this machine; undefined if it can. */
function suiteFault(name: SuiteName): string | undefined {
  const machine = thisMachine(process.env);
  if (name === 'node') return nodeFault(machine);
  const fault = name === 'kind' ? kindFault(machine) : undefined;
  return fault?.startsWith('docker') === true ? `no Docker (${fault})` : fault;
}

function jestArguments(name: SuiteName, reportFile: string): string[] {
  return [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    join(modules, 'jest', 'bin', 'jest.js'),
    '--selectProjects',
    ...projectsOf(name),
    '--passWithNoTests',
    // A release on the node serves all namespaces: there is one at a time.
    `--maxWorkers=${name === 'node' ? 1 : workers}`,
    '--json',
    '--outputFile',
    reportFile,
  ];
}

// The kind suite is the end-to-end suite on a cluster of kind's, and the built image and the chart on another one. What looks
// at the image goes with what runs it on the node.
function projectsOf(name: SuiteName): readonly string[] {
  if (name === 'kind') return ['e2e', 'kind'];
  return name === 'node' ? ['image', 'node'] : [name];
}

function suiteEnvironment(name: SuiteName, { scale }: Plan): NodeJS.ProcessEnv {
  const env = { ...process.env, KEYFRAME_TEST_SCALE: scale };
  return name === 'kind' ? { ...env, KEYFRAME_TEST_KUBECONFIG: '', KEYFRAME_TEST_CLUSTER_SOURCE: 'kind' } : env;
}

function readReport(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function tool(name: string): string {
  return join(modules, '.bin', name);
}
