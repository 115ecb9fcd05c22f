import { describe, expect, test } from '@jest/globals';
import { checkNames, readPlan, suiteNames } from '../../../tools/test-run/plan.ts';

describe('the plan of a test run', () => {
  test('has every check and every suite, in short, where nothing is said', () => {
    expect(readPlan([], {})).toEqual({
      steps: [...checkNames, ...suiteNames],
      required: [],
      scale: 'short',
      hasCostTable: false,
    });
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

  test('is at full scale with --full, whatever the environment says', () => {
    expect(readPlan(['unit', '--full'], { KEYFRAME_TEST_SCALE: 'short' })).toMatchObject({
      steps: ['unit'],
      scale: 'full',
    });
  });

  test('passes the scale on, and refuses one that there is not', () => {
    expect(readPlan([], { KEYFRAME_TEST_SCALE: 'full' }).scale).toBe('full');
    expect(readPlan([], { KEYFRAME_TEST_SCALE: '' }).scale).toBe('short');
    expect(() => readPlan([], { KEYFRAME_TEST_SCALE: 'huge' })).toThrow(
      'KEYFRAME_TEST_SCALE must be one of short, full',
    );
  });
});
