import { describe, expect, test } from '@jest/globals';
import {
  type Condition,
  type ReadyClaim,
  conditionClaims,
  earliest,
  kubeTime,
  mergeConditions,
} from '../../../src/controller/frame/conditions.ts';

const early = '2026-01-01T00:00:00Z';
const now = '2026-01-02T00:00:00Z';
const failed: ReadyClaim = { progress: 'reconciling', reason: 'NotFound', message: 'why' };
const done: ReadyClaim = { progress: 'done', reason: 'Synced', message: 'all is well' };

function merge(claim: ReadyClaim, present: readonly Condition[] = [], known: readonly Condition[] = []): Condition[] {
  return mergeConditions(conditionClaims(claim), { present, known, generation: 3, now });
}

function condition(type: string, status: Condition['status'], lastTransitionTime = early): Condition {
  return { type, status, reason: 'Before', message: 'before', observedGeneration: 2, lastTransitionTime };
}

function statuses(claim: ReadyClaim): Record<string, string> {
  return Object.fromEntries(merge(claim).map(({ type, status }) => [type, status]));
}

describe('kstatus', () => {
  test.each([
    ['current, where all is done', done, { Ready: 'True', Reconciling: 'False', Stalled: 'False' }],
    [
      'in progress, where the controller goes on by itself',
      failed,
      { Ready: 'False', Reconciling: 'True', Stalled: 'False' },
    ],
    [
      'failed, where only a change of the resource helps',
      { ...failed, progress: 'stalled' as const },
      { Ready: 'False', Reconciling: 'False', Stalled: 'True' },
    ],
    [
      'failed, where it is suspended, because only a change of the resource ends that',
      { ...failed, progress: 'suspended' as const },
      { Ready: 'False', Reconciling: 'False', Stalled: 'True' },
    ],
    [
      'in progress, where others supply what is missing',
      { ...failed, progress: 'waiting' as const },
      { Ready: 'False', Reconciling: 'True', Stalled: 'False' },
    ],
  ])('reads the conditions as %s', (_, claim, expected) => expect(statuses(claim)).toEqual(expected));
});

describe('a transition time', () => {
  test('is now if the condition is new', () => {
    expect(merge(done).map(({ lastTransitionTime }) => lastTransitionTime)).toEqual([now, now, now]);
  });

  test('is kept if only reason, message or generation changed', () => {
    const [ready] = merge(failed, [condition('Ready', 'False')]);
    expect(ready).toEqual({
      type: 'Ready',
      status: 'False',
      reason: 'NotFound',
      message: 'why',
      observedGeneration: 3,
      lastTransitionTime: early,
    });
  });

  test('is now if the status changed', () => {
    expect(merge(done, [condition('Ready', 'False')])[0]?.lastTransitionTime).toBe(now);
  });

  test('is restored after a manual change to a later time', () => {
    const moved = [condition('Ready', 'True', '2026-01-01T12:00:00Z')];
    expect(merge(done, moved, [condition('Ready', 'True')])[0]?.lastTransitionTime).toBe(early);
  });

  test('is restored after a manual change of the condition', () => {
    const turned = [condition('Ready', 'False', '2026-01-01T12:00:00Z')];
    expect(merge(done, turned, [condition('Ready', 'True')])[0]?.lastTransitionTime).toBe(early);
  });

  test('is that of the resource if another controller was earlier, so that two agree', () => {
    const others = [condition('Ready', 'True', early)];
    expect(merge(done, others, [condition('Ready', 'True', now)])[0]?.lastTransitionTime).toBe(early);
  });
});

test('conditions of other types are kept at the end', () => {
  const foreign = condition('Audited', 'True');
  expect(merge(done, [foreign, condition('Ready', 'True')]).map(({ type }) => type)).toEqual([
    'Ready',
    'Reconciling',
    'Stalled',
    'Audited',
  ]);
  expect(merge(done, [foreign]).at(-1)).toEqual(foreign);
});

test('the earliest time ignores absent and invalid times', () => {
  expect(earliest([undefined, 'soon', now, early])).toBe(early);
  expect(earliest(['2026-01-01T01:00:00+02:00', early])).toBe('2026-01-01T01:00:00+02:00');
  expect(earliest([undefined, 'soon'])).toBeUndefined();
});

test('times are written in whole seconds, as Kubernetes does', () => {
  expect(kubeTime(Date.UTC(2026, 0, 2, 3, 4, 5, 678))).toBe('2026-01-02T03:04:05Z');
});
