/** What `npm test` runs, in this order: first what is quick to tell, then the suites. */
export const checkNames = ['format', 'lint', 'typecheck', 'dead-code', 'generated', 'build'] as const;
export const suiteNames = ['unit', 'integration', 'fuzz', 'e2e', 'node', 'kind'] as const;
const scales = ['short', 'full'] as const;

export type CheckName = (typeof checkNames)[number];
export type SuiteName = (typeof suiteNames)[number];
export type StepName = CheckName | SuiteName;

export interface Plan {
  readonly steps: readonly StepName[];
  /** Steps that count as failed unless they ran. */
  readonly required: readonly string[];
  readonly scale: (typeof scales)[number];
}

/**
 * Reads the arguments (names of steps; none means all) and KEYFRAME_TEST_REQUIRE and KEYFRAME_TEST_SCALE. Throws a sentence
 * about a name or scale that there is not. A required name that nobody knows is kept: it will be found missing.
 */
export function readPlan(args: readonly string[], env: NodeJS.ProcessEnv): Plan {
  const known: readonly StepName[] = [...checkNames, ...suiteNames];
  const unknown = args.filter((name) => !known.includes(name as StepName));
  if (unknown.length > 0) {
    throw new Error(`There is no ${unknown.join(', ')} to run; there are ${known.join(', ')}.`);
  }
  const scale = scales.find((name) => name === (env['KEYFRAME_TEST_SCALE'] || 'short'));
  if (scale === undefined) throw new Error(`KEYFRAME_TEST_SCALE is one of ${scales.join(', ')}.`);
  return {
    steps: args.length === 0 ? known : known.filter((name) => args.includes(name)),
    required: (env['KEYFRAME_TEST_REQUIRE'] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
    scale,
  };
}

export function isSuite(name: StepName): name is SuiteName {
  return (suiteNames as readonly string[]).includes(name);
}
