import { parseArgs } from 'node:util';

/** What `npm test` runs. Its summary has this order. */
export const checkNames = ['format', 'lint', 'typecheck', 'dead-code', 'generated', 'build'] as const;
/** The suites whose files share one pool of workers. */
export const pooledNames = ['unit', 'integration', 'browser', 'e2e'] as const;
export const suiteNames = [...pooledNames, 'fuzz', 'node', 'kind'] as const;
const scales = ['short', 'full'] as const;

export type CheckName = (typeof checkNames)[number];
export type PooledName = (typeof pooledNames)[number];
export type SuiteName = (typeof suiteNames)[number];
export type StepName = CheckName | SuiteName;

export interface Plan {
  readonly steps: readonly StepName[];
  /** Steps that count as failed unless they ran. */
  readonly required: readonly string[];
  readonly scale: (typeof scales)[number];
  /** Whether the summary has the table of processor time. */
  readonly hasCostTable: boolean;
}

/**
 * Reads the arguments (names of steps, none for all, --full and --cost) and KEYFRAME_TEST_REQUIRE and KEYFRAME_TEST_SCALE.
 * Throws a sentence about an unknown name, option or scale. An unknown required name is kept: it will be reported as missing.
 */
export function readPlan(args: readonly string[], env: NodeJS.ProcessEnv): Plan {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { full: { type: 'boolean' }, cost: { type: 'boolean' } },
    allowPositionals: true,
  });
  const known: readonly StepName[] = [...checkNames, ...suiteNames];
  const unknown = positionals.filter((name) => !known.includes(name as StepName));
  if (unknown.length > 0) {
    throw new Error(`Unknown step ${unknown.join(', ')}. The steps are ${known.join(', ')}.`);
  }
  const named = env['KEYFRAME_TEST_SCALE'] || 'short';
  const scale = values.full === true ? 'full' : scales.find((name) => name === named);
  if (scale === undefined) throw new Error(`KEYFRAME_TEST_SCALE must be one of ${scales.join(', ')}.`);
  return {
    steps: positionals.length === 0 ? known : known.filter((name) => positionals.includes(name)),
    required: (env['KEYFRAME_TEST_REQUIRE'] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    scale,
    hasCostTable: values.cost === true,
  };
}

export function isCheck(name: StepName): name is CheckName {
  return (checkNames as readonly string[]).includes(name);
}

export function isPooled(name: StepName): name is PooledName {
  return (pooledNames as readonly string[]).includes(name);
}
