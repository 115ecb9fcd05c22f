import * as messages from '../../../src/controller/kinds/rollout/messages.ts';
import { describe, expect, test } from '@jest/globals';
import { type RolloutFacts, type RolloutPlan, planRollout } from '../../../src/controller/kinds/rollout/plan.ts';
import { formatMark, markAnnotation, parseMark } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import type { WorkloadFacts } from '../../../src/controller/kinds/rollout/assessment.ts';
import { api, calmFacts, data, marked, now, other, target, timeoutMs, web, workload } from './rollout-facts.ts';

const crash = { kind: 'data', reason: 'container main: CrashLoopBackOff' } as const;
const image = { kind: 'other', why: 'container main: ImagePullBackOff' } as const;
const third = 'c'.repeat(32);

function plan(targets: readonly WorkloadFacts[], more: Partial<RolloutFacts> = {}): RolloutPlan {
  return planRollout({ ...calmFacts, ...more, targets });
}

const restarted = ({ restarts }: RolloutPlan): string[] => restarts.map(({ target: { name } }) => name);

/** `web` runs well with the data before this one, and waits for its restart. */
const waiting = target(workload({ marks: marked(other) }));

const paused = workload({ marks: marked(), updated: 1 });
Object.assign(paused.spec ?? {}, { paused: true });

function ahead(mark: string, at: number): Record<string, string> {
  return { [markAnnotation('app')]: formatMark({ revision: 3, data: mark, at, isAhead: true }) };
}

const stuck = (mark: string, more: Partial<WorkloadFacts> = {}): WorkloadFacts =>
  target(workload({ marks: marked(mark), updated: 1, deadline: true }), { target: api, failure: crash, ...more });
const rolling = (marks: Record<string, string>, more: Partial<WorkloadFacts> = {}): WorkloadFacts =>
  target(workload({ marks, updated: 1 }), { target: api, ...more });

type Case = readonly [
  sentence: string,
  first: WorkloadFacts,
  restarts: readonly string[],
  more?: Partial<RolloutFacts>,
];

const record = (mark: string): Partial<RolloutFacts> => ({
  converged: { data: mark, sources: [{ revision: 1, revisionId: 'r1' }], targets: [] },
});

describe('a workload whose data has changed', () => {
  test.each<Case>([
    ['waits behind one that failed with the same data', stuck(data), []],
    ['waits behind one that failed with earlier data, which is restarted first', stuck(other), ['api']],
    ['waits behind one whose pods were not looked at yet', stuck(data, { failure: { kind: 'unknown' } }), []],
    [
      'waits behind one whose pods may not be looked at',
      stuck(data, { failure: { kind: 'unseen', reason: '403' } }),
      [],
    ],
    [
      'waits behind one that failed by the timeout',
      rolling(marked(), { rollingSince: now - timeoutMs, failure: crash }),
      [],
    ],
    [
      'waits behind one whose pods failed with earlier data and run for a moment',
      rolling(marked(third), { failure: crash }),
      [],
    ],
    [
      'does not wait behind one whose pods failed with earlier data and are all there now',
      target(workload({ marks: marked(third) }), { target: api, failure: crash }),
      ['api', 'web'],
    ],
    ['waits behind one that was restarted a while ago and has not converged', rolling(marked()), []],
    ['does not wait behind one that was restarted just now', rolling(marked(data, now - 2000)), ['web']],
    ['waits behind one that was restarted just now, to go first', rolling(ahead(data, now - 2000)), []],
    ['waits behind one that went first with earlier data and is at it', rolling(ahead(third, now - 2000)), []],
    ['does not wait behind one that fails of something else', stuck(data, { failure: image }), ['web']],
    ['does not wait behind one that is paused', target(paused, { target: api }), ['web']],
    ['does not wait behind one that is not there', target(undefined, { target: api }), ['web']],
    ['waits until it is known how the others are', target(undefined, { target: api, isSeen: false }), []],
    ['does not wait with data that all have converged with', stuck(third), ['api', 'web'], record(data)],
    [
      'does not wait behind one that fails with data that all have converged with',
      stuck(third),
      ['api', 'web'],
      record(third),
    ],
    [
      'does not wait behind one without a mark',
      target(workload({ updated: 1, deadline: true }), { target: api }),
      ['api', 'web'],
    ],
  ])('%s', (_, first, restarts, more = {}) => {
    expect(restarted(plan([first, waiting], more))).toEqual(restarts);
  });

  test('says which one it waits for and what to do', () => {
    const { claim } = plan([stuck(other), waiting]);
    expect(claim).toMatchObject({ status: 'False', reason: 'RolloutBlocked' });
    expect(claim.message).toMatch(
      /^Deployment web is not restarted for revision 7 .*Deployment api failed with the data of revision 3 \(container main: CrashLoopBackOff\).* spec\.rollout\.targets\. Deployment api is being restarted for revision 7\.$/,
    );
  });

  test('that was refused its restart together with the others does not wait for them', () => {
    const late = { ...waiting, refusal: '403 Forbidden' };
    expect(restarted(plan([rolling(marked()), late]))).toEqual(['web']);
    expect(restarted(plan([stuck(data), late]))).toEqual([]);
  });
});

test('two that failed are both restarted for newer data', () => {
  expect(restarted(plan([stuck(other), stuck(other, { target: web })]))).toEqual(['api', 'web']);
});

test('the one that goes first is marked so, and no other', () => {
  expect(plan([stuck(other), waiting]).restarts.map(({ isAhead }) => isAhead)).toEqual([true]);
  expect(plan([target(workload()), waiting]).restarts.map(({ isAhead }) => isAhead)).toEqual([false, false]);
  const mark = { revision: 3, data, at: now, isAhead: true };
  expect(parseMark(formatMark(mark))).toEqual(mark);
  expect(parseMark(`3/${data}/2026-01-01T00:00:00Z/behind`)).toBeUndefined();
});

type StuckCase = readonly [string, Partial<WorkloadFacts>, Partial<RolloutFacts>, reason: string, words: string];

describe('a workload that is stuck', () => {
  const only = (more: Partial<WorkloadFacts>, facts: Partial<RolloutFacts> = {}): RolloutPlan =>
    plan([stuck(data, more)], facts);
  const before: Partial<RolloutFacts> = {
    onFailure: 'Rollback',
    converged: {
      data: other,
      sources: [{ revision: 6, revisionId: 'r6' }],
      targets: [{ kind: 'Deployment', name: 'api', template: 'template' }],
    },
  };

  test('has its pods looked at when it is time, and not before', () => {
    expect(only({ observeFrom: now }).podChecks).toHaveLength(1);
    const later = only({ observeFrom: now + 5 });
    expect([later.podChecks, later.dueAt]).toEqual([[], now + 5]);
    expect(only({}).dueAt).toBeUndefined();
  });

  test('because of the data has it taken back where the spec says so', () => {
    const { claim, abandoned } = only({}, before);
    expect(claim.reason).toBe('RolloutStuck');
    expect(claim.message).toContain(messages.rollbackDue(crash.reason));
    expect(abandoned).toMatchObject({ held: { data }, reason: 'Deployment api, container main: CrashLoopBackOff' });
    expect(only({}, { ...before, onFailure: 'Hold' }).abandoned).toBeUndefined();
  });

  test.each<StuckCase>([
    ['of something else', { failure: image }, {}, 'RolloutStuck', messages.notTheData(image.why, 'Rollback', 'ns')],
    [
      'of an unknown cause',
      { failure: { kind: 'unseen', reason: '403 Forbidden' } },
      {},
      'RollbackImpossible',
      messages.podsUnseen,
    ],
    ['before anything has converged', {}, { converged: undefined }, 'RollbackImpossible', messages.neverConverged],
    [
      'and was not among those that converged',
      {},
      record(other),
      'RollbackImpossible',
      messages.notAmongConverged(api),
    ],
  ])('%s takes nothing back, and says why', (...[, more, facts, reason, words]: StuckCase) => {
    const { claim, abandoned } = only(more, { ...before, ...facts });
    expect(claim.reason).toBe(reason);
    expect(claim.message).toContain(words);
    expect(abandoned).toBeUndefined();
  });

  test('after a refusal reports it, and lets it be tried again', () => {
    const { claim, abandoned } = only({}, { ...before, rollbackRefusal: 'B was deleted since' });
    expect(claim.reason).toBe('RollbackImpossible');
    expect(claim.message).toContain(': B was deleted since;');
    expect(abandoned).toBeDefined();
  });
});

test('what all have converged with is returned for the record, with the templates of then', () => {
  const { converged } = plan([target(workload({ marks: marked() }))]);
  expect(converged).toEqual({
    data,
    sources: [{ revision: 7, revisionId: 'r7' }],
    targets: [{ kind: 'Deployment', name: 'web', template: 'template' }],
  });
  expect(plan([target(workload({ marks: marked(), updated: 1 }))]).converged).toBeUndefined();
});
