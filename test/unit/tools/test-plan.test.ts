import { describe, expect, test } from '@jest/globals';
import { checkNames, kubernetesNames, readPlan, suiteNames, usage } from '../../../tools/test-run/plan.ts';

describe('the plan of a test run', () => {
  test('has every check and every suite, without those of another Kubernetes, in the default size', () => {
    const suites = suiteNames.filter((name) => !(kubernetesNames as readonly string[]).includes(name));
    expect(readPlan([], { KEYFRAME_TEST_SEED: '7' })).toEqual({
      steps: [...checkNames, ...suites],
      required: [],
      size: 'default',
      seed: 7,
      isIsolated: false,
      shuffleSeed: undefined,
      hasCostTable: false,
    });
  });

  test('has the suites of every Kubernetes in the full size, or if they are named', () => {
    expect(readPlan(['--full'], {}).steps).toEqual([...checkNames, ...suiteNames]);
    expect(readPlan(['kubernetes-1.35'], {}).steps).toEqual(['kubernetes-1.35']);
  });

  test('has just the named steps, in the usual order', () => {
    expect(readPlan(['unit', 'lint'], {}).steps).toEqual(['lint', 'unit']);
  });

  test('refuses a step that there is not, naming it', () => {
    expect(() => readPlan(['unit', 'unti'], {})).toThrow('Unknown step unti');
    expect(() => readPlan(['--ful'], {})).toThrow("Unknown option '--ful'");
  });

  test('keeps every required name, also an unknown one, and no empty one', () => {
    expect(readPlan(['unit'], { KEYFRAME_TEST_REQUIRE: 'unit, e2e,,other' }).required).toEqual([
      'unit',
      'e2e',
      'other',
    ]);
    expect(readPlan([], { KEYFRAME_TEST_REQUIRE: '' }).required).toEqual([]);
  });

  test('has the table of processor time with --cost', () => {
    expect(readPlan(['unit', '--cost'], {})).toMatchObject({ steps: ['unit'], hasCostTable: true });
  });

  test('is of the full size with --full, whatever the environment says', () => {
    expect(readPlan(['unit', '--full'], { KEYFRAME_TEST_SCALE: 'default' })).toMatchObject({
      steps: ['unit'],
      size: 'full',
    });
  });

  test('takes the size from the environment, and refuses an unknown one', () => {
    expect(readPlan([], { KEYFRAME_TEST_SCALE: 'full' }).size).toBe('full');
    expect(readPlan([], { KEYFRAME_TEST_SCALE: '' }).size).toBe('default');
    expect(() => readPlan([], { KEYFRAME_TEST_SCALE: 'huge' })).toThrow(
      'KEYFRAME_TEST_SCALE must be one of default, full',
    );
  });

  test('isolates the files with --isolated', () => {
    expect(readPlan(['--isolated'], {}).isIsolated).toBe(true);
  });

  test('shuffles with the seed of --shuffled, and without one with that of the run', () => {
    expect(readPlan(['--shuffled=5'], { KEYFRAME_TEST_SEED: '7' })).toMatchObject({ seed: 7, shuffleSeed: 5 });
    expect(readPlan(['--shuffled', 'unit'], { KEYFRAME_TEST_SEED: '7' })).toMatchObject({
      steps: ['unit'],
      shuffleSeed: 7,
    });
    expect(() => readPlan(['--shuffled=x'], {})).toThrow('The seed of --shuffled must be a whole number');
  });
});

test('the help names every step, option and variable', () => {
  const options = ['--full', '--cost', '--isolated', '--shuffled[=SEED]', '--help'];
  const variables = ['KEYFRAME_TEST_SEED', 'KEYFRAME_TEST_REQUIRE'];
  for (const name of [...checkNames, ...suiteNames, ...options, ...variables]) expect(usage).toContain(name);
});
