import { describe, expect, test } from '@jest/globals';
import { checkNames, readPlan, suiteNames } from '../../../scripts/test-run/plan.ts';

describe('the plan of a test run', () => {
  test('has every check and every suite, in short, where nothing is said', () => {
    expect(readPlan([], {})).toEqual({ steps: [...checkNames, ...suiteNames], required: [], scale: 'short' });
  });

  test('has just the named steps, in the usual order', () => {
    expect(readPlan(['unit', 'lint'], {}).steps).toEqual(['lint', 'unit']);
  });

  test('refuses a step that there is not, naming it', () => {
    expect(() => readPlan(['unit', 'unti'], {})).toThrow('There is no unti to run');
  });

  test('keeps every required name, also one that nobody knows, and no empty one', () => {
    expect(readPlan(['unit'], { KEYFRAME_TEST_REQUIRE: 'unit, e2e,,browser' }).required).toEqual([
      'unit',
      'e2e',
      'browser',
    ]);
    expect(readPlan([], { KEYFRAME_TEST_REQUIRE: '' }).required).toEqual([]);
  });

  test('passes the scale on, and refuses one that there is not', () => {
    expect(readPlan([], { KEYFRAME_TEST_SCALE: 'full' }).scale).toBe('full');
    expect(readPlan([], { KEYFRAME_TEST_SCALE: '' }).scale).toBe('short');
    expect(() => readPlan([], { KEYFRAME_TEST_SCALE: 'huge' })).toThrow('KEYFRAME_TEST_SCALE is one of short, full');
  });
});
