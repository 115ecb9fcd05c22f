import { parseArgs } from 'node:util';
import { otherKubernetesVersions } from '../devcluster/cluster/binaries.ts';
import { type Size, seedOf, sizes } from './size.ts';

/** What `npm test` runs. Its summary has this order. */
export const checkNames = ['format', 'lint', 'typecheck', 'dead-code', 'generated', 'build'] as const;
/** The suites whose files share one pool of workers. */
export const pooledNames = ['integration', 'browser', 'e2e'] as const;
/** The suites that run one way through each feature on another Kubernetes, such as `kubernetes-1.35`. */
export const kubernetesNames = otherKubernetesVersions.map((version) => `kubernetes-${version}` as const);
export const suiteNames = ['unit', ...pooledNames, 'fuzz', 'node', 'kind', ...kubernetesNames] as const;

export type CheckName = (typeof checkNames)[number];
export type PooledName = (typeof pooledNames)[number];
export type SuiteName = (typeof suiteNames)[number];
export type StepName = CheckName | SuiteName;

export interface Plan {
  readonly steps: readonly StepName[];
  /** Steps that count as failed unless they ran. */
  readonly required: readonly string[];
  readonly size: Size;
  /** What tests draw by chance follows from it. */
  readonly seed: number;
  /** Whether each test file has a process of its own. */
  readonly isIsolated: boolean;
  /** Of the order of files and tests; undefined for the usual order. */
  readonly shuffleSeed: number | undefined;
  /** Whether the summary has the table of processor time. */
  readonly hasCostTable: boolean;
}

const options = {
  full: { type: 'boolean' },
  cost: { type: 'boolean' },
  isolated: { type: 'boolean' },
  shuffled: { type: 'string' },
} as const;

/**
 * Reads the arguments (names of steps, none for all, and options), and KEYFRAME_TEST_REQUIRE, KEYFRAME_TEST_SCALE and
 * KEYFRAME_TEST_SEED. Throws a sentence about an unknown name or option and about a wrong value. An unknown required name is
 * kept: it will be reported as missing.
 */
export function readPlan(args: readonly string[], env: NodeJS.ProcessEnv): Plan {
  const seed = seedOf(env);
  const given = args.map((arg) => (arg === '--shuffled' ? `--shuffled=${seed}` : arg));
  const { values, positionals } = parseArgs({ args: given, options, allowPositionals: true });
  const size = values.full === true ? 'full' : sizeOf(env);
  return {
    steps: stepsOf(positionals, size),
    required: (env['KEYFRAME_TEST_REQUIRE'] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    size,
    seed,
    isIsolated: values.isolated === true,
    shuffleSeed: values.shuffled === undefined ? undefined : shuffleSeedOf(values.shuffled),
    hasCostTable: values.cost === true,
  };
}

function stepsOf(names: readonly string[], size: Size): readonly StepName[] {
  const known: readonly StepName[] = [...checkNames, ...suiteNames];
  const unknown = names.filter((name) => !known.includes(name as StepName));
  if (unknown.length > 0) {
    throw new Error(`Unknown step ${unknown.join(', ')}. The steps are ${known.join(', ')}.`);
  }
  if (names.length > 0) return known.filter((name) => names.includes(name));
  return known.filter((name) => size === 'full' || kubernetesVersionOf(name) === undefined);
}

function sizeOf(env: NodeJS.ProcessEnv): Size {
  const named = env['KEYFRAME_TEST_SCALE'] || 'default';
  const size = sizes.find((name) => name === named);
  if (size === undefined) throw new Error(`KEYFRAME_TEST_SCALE must be one of ${sizes.join(', ')}.`);
  return size;
}

function shuffleSeedOf(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error('The seed of --shuffled must be a whole number of at most 9 digits.');
  return Number(text);
}

export const usage = `Usage: npm test [-- [STEP …] [OPTION …]]

Runs the checks and the test suites; with names of steps, only these. The last line of the output is "N passed, N failed".
The suites ${kubernetesNames.join(' and ')} run only with --full, or if they are named.

Checks: ${checkNames.join(', ')}.
Suites: ${suiteNames.join(', ')}.

Options:
  --full              Run every test, with more random runs. Otherwise the default size runs.
  --cost              Print the processor time of each step by program.
  --isolated          Run each test file in a process of its own.
  --shuffled[=SEED]   Run the test files, and the tests of each, in a random order. The default seed is KEYFRAME_TEST_SEED.
  --help              Print this.

Variables:
  KEYFRAME_TEST_SEED      What tests draw by chance follows from this number. Default: the date in UTC, as 20261231.
  KEYFRAME_TEST_REQUIRE   Steps, separated by commas, that count as failed unless they ran.

A nightly run: npm test -- --full --isolated --shuffled
Single test files: docs/development/testing.md
`;

export function isCheck(name: StepName): name is CheckName {
  return (checkNames as readonly string[]).includes(name);
}

export function isPooled(name: StepName): name is PooledName {
  return (pooledNames as readonly string[]).includes(name);
}

/** The version of Kubernetes that a suite is for, such as 1.35; undefined for any other step. */
export function kubernetesVersionOf(name: string): string | undefined {
  const isOther = (kubernetesNames as readonly string[]).includes(name);
  return isOther ? name.replace('kubernetes-', '') : undefined;
}
