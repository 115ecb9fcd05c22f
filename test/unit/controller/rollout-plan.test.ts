import * as messages from '../../../src/controller/kinds/rollout/messages.ts';
import { describe, expect, test } from '@jest/globals';
import type { Condition } from '../../../src/controller/frame/conditions.ts';
import { type RolloutPlan, planRollout } from '../../../src/controller/kinds/rollout/plan.ts';
import { dataMark, formatMark, markAnnotation, parseMark } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import {
  RolloutMemory,
  type TargetObservation,
  maxSettleMs,
  settleMs,
} from '../../../src/controller/kinds/rollout/memory.ts';
import type { WorkloadFacts } from '../../../src/controller/kinds/rollout/assessment.ts';
import type { Workload } from '../../../src/controller/kinds/rollout/targets.ts';
import { calmFacts, data, marked, now, other, target, timeoutMs, web, workload } from './rollout-facts.ts';
import type { HeldData } from '../../../src/controller/kinds/rollout/model.ts';

function plan(...targets: readonly WorkloadFacts[]): RolloutPlan {
  return planRollout({ ...calmFacts, targets });
}

type Case = readonly [sentence: string, target: WorkloadFacts, reason: string, restarts: number, dueInMs?: number];

const cases: readonly Case[] = [
  ['with its mark and all pods has converged', target(workload({ marks: marked() })), 'Converged', 0],
  ['without a mark is restarted', target(workload()), 'RolloutPending', 1],
  ['with the mark of other data is restarted', target(workload({ marks: marked(other) })), 'RolloutPending', 1],
  [
    'with a mark that was spoilt is restarted',
    target(workload({ marks: { [markAnnotation('app')]: 'x' } })),
    'RolloutPending',
    1,
  ],
  [
    'with just the mark of another SecretSync is restarted',
    target(workload({ marks: marked(data, now, 'b') })),
    'RolloutPending',
    1,
  ],
  ['is let alone while changes may still come', target(workload(), { restartFrom: now + 5 }), 'RolloutPending', 0, 5],
  [
    'is let alone while it rolls out, until the timeout',
    target(workload({ marks: marked(other), updated: 1 }), { rollingSince: now - 1000 }),
    'RolloutPending',
    0,
    timeoutMs - 1000,
  ],
  [
    'is let alone while it rolls out, however short a while ago its own restart began that',
    target(workload({ marks: marked(other, now - 2000), updated: 0 })),
    'RolloutPending',
    0,
    timeoutMs,
  ],
  [
    'is restarted when its rollout has taken too long',
    target(workload({ marks: marked(other), updated: 1 }), { rollingSince: now - timeoutMs }),
    'RolloutPending',
    1,
  ],
  [
    'is restarted at once where another SecretSync has just restarted it',
    target(workload({ marks: marked(other, now - 2000, 'b'), updated: 0 })),
    'RolloutPending',
    1,
  ],
  [
    'is restarted when it is stuck with older data',
    target(workload({ marks: marked(other), updated: 1, deadline: true })),
    'RolloutPending',
    1,
  ],
  [
    'with its mark and old pods rolls out',
    target(workload({ marks: marked(), updated: 1 })),
    'RollingOut',
    0,
    timeoutMs,
  ],
  [
    'is stuck after the timeout',
    target(workload({ marks: marked(), updated: 1 }), { rollingSince: now - timeoutMs }),
    'RolloutStuck',
    0,
  ],
  [
    'is stuck when its own deadline is over',
    target(workload({ marks: marked(), updated: 1, deadline: true })),
    'RolloutStuck',
    0,
  ],
  ['is not found where there is none', target(undefined), 'WorkloadNotFound', 0],
  ['is not known before the first list', target(undefined, { isSeen: false }), 'RolloutPending', 0],
  [
    'cannot be seen without the rights',
    target(undefined, { isSeen: false, isForbidden: true }),
    'RolloutsForbidden',
    0,
  ],
  [
    'whose restart was refused is tried again',
    target(workload(), { refusal: '403 Forbidden' }),
    'RolloutsForbidden',
    1,
  ],
];

describe('a workload', () => {
  test.each(cases)('%s', (...[, facts, reason, restarts, dueInMs]: Case) => {
    const { claim, restarts: planned, dueAt } = plan(facts);
    expect(claim.reason).toBe(reason);
    expect(planned).toHaveLength(restarts);
    expect(dueAt).toBe(dueInMs === undefined ? undefined : now + dueInMs);
    expect(claim.status).toBe({ Converged: 'True', RolloutsForbidden: 'Unknown' }[reason] ?? 'False');
  });

  test('that has the data of an older revision reports the newest revision with the same data', () => {
    expect(plan(target(workload({ marks: marked() }))).workloads).toEqual([
      { ...web, revision: 7, replicas: 2, updatedReplicas: 2 },
    ]);
    expect(plan(target(workload({ marks: marked(other) }))).workloads[0]?.revision).toBe(3);
    expect(plan(target(workload())).workloads).toEqual([{ ...web, replicas: 2, updatedReplicas: 2 }]);
  });
});

test.each([
  ['of the second in which the data came is as good as a later one', 59_300, 0],
  ['of a time before the data came, after other data, is none', 58_900, 1],
])('a mark %s', (_, sinceMs, restarts) => {
  const held = { ...calmFacts.held, since: now - sinceMs };
  const targets = [target(workload({ marks: marked(data, now - 60_000) }))];
  const { restarts: planned } = planRollout({ ...calmFacts, held, targets });
  expect(planned).toHaveLength(restarts);
});

test('with data of several sources a workload has no revision, and the condition reports those of the sources', () => {
  const held = { ...calmFacts.held, revision: 0, label: 'revision 4 of shared and revision 9 of own' };
  const facts = { ...calmFacts, held };
  const { claim, workloads } = planRollout({ ...facts, targets: [target(workload({ marks: marked() }))] });
  expect(workloads).toEqual([{ ...web, replicas: 2, updatedReplicas: 2 }]);
  expect(claim.message).toBe(
    'All pods of Deployment web run with the data of revision 4 of shared and revision 9 of own.',
  );
  const pending = planRollout({ ...facts, targets: [target(workload())] });
  expect(pending.claim.message).toContain(messages.restartNow(held));
});

test('of several workloads the gravest gives the reason, and the others follow it', () => {
  const set = { kind: 'StatefulSet', name: 'db' } as const;
  const { claim } = plan(
    target(workload({ marks: marked() })),
    target(workload({ marks: marked(), updated: 1 })),
    target(undefined, { target: set }),
  );
  expect(claim).toMatchObject({ status: 'False', reason: 'WorkloadNotFound' });
  expect(claim.message).toBe(
    `StatefulSet db ${messages.notFound}. Deployment web ${messages.rollingOut('1 of 2 pods are up to date and available')}.`,
  );
});

describe('the annotation', () => {
  test('has the name of the SecretSync, cut where Kubernetes allows no more, and never that of another one', () => {
    expect(markAnnotation('app')).toBe('rollout.keyframe.dev/app');
    const long = 'a'.repeat(64);
    const names = [long, `${long}b`, 'a'.repeat(63)].map((name) =>
      markAnnotation(name).slice('rollout.keyframe.dev/'.length),
    );
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[a-z0-9][-a-z0-9_.]{0,61}[a-z0-9]$/);
    expect(names[0]).toContain('_');
  });

  test('is read as it was written, and not at all if a client spoilt it', () => {
    const mark = { revision: 12, data: dataMark(Buffer.alloc(32, 0xab)), at: now };
    expect(mark.data).toBe('ab'.repeat(16));
    // Of a form that every release reads: otherwise an upgrade would restart all workloads.
    expect(formatMark({ ...mark, at: 0 })).toBe(`12/${mark.data}/1970-01-01T00:00:00Z`);
    expect(parseMark(formatMark(mark))).toEqual(mark);
    for (const text of [undefined, '', '12', `12/${data}`, `12/${data}/yesterday`, `-1/${data}/2026-01-01T00:00:00Z`])
      expect(parseMark(text)).toBeUndefined();
  });
});

/** How the workload `web` looks. */
function observation(workloadNow: Workload | undefined, at = now, converged?: Condition): TargetObservation {
  return { target: web, workload: workloadNow, isMarked: false, now: at, converged };
}

describe('the settle time', () => {
  const held = (mark: string): HeldData => ({ ...calmFacts.held, revisionId: mark, data: mark });

  test('starts again with each change of the data, but ends at last', () => {
    const memory = new RolloutMemory('app');
    memory.hold(held('0'), now);
    expect(memory.facts(observation(undefined)).restartFrom).toBe(now + settleMs);
    for (let second = 1; second <= 60; second += 1) memory.hold(held(String(second)), now + second * 1000);
    expect(memory.facts(observation(undefined)).restartFrom).toBe(now + maxSettleMs);
    memory.hold(held('later'), now + 100_000);
    expect(memory.facts(observation(undefined)).restartFrom).toBe(now + 100_000 + settleMs);
  });

  test('does not begin for a revision with the same data', () => {
    const memory = new RolloutMemory('app');
    memory.hold(held('same'), now);
    memory.hold({ ...held('same'), revision: 8 }, now + 60_000);
    expect(memory.facts(observation(undefined)).restartFrom).toBe(now + settleMs);
  });

  test('follows each restart, whichever client removes the annotation again', () => {
    const memory = new RolloutMemory('app');
    memory.hold(held('x'), now);
    memory.restarted(web, workload(), now + 50_000);
    expect(memory.facts(observation(undefined)).restartFrom).toBe(now + 50_000 + settleMs);
  });
});

describe('the time of a rollout', () => {
  const rolling = workload({ updated: 1 });
  const since = (at: number, found: Workload, status?: 'True' | 'False', reason = 'RollingOut'): number => {
    const converged =
      status === undefined
        ? undefined
        : { type: 'Converged', status, reason, message: '', lastTransitionTime: new Date(now - 90_000).toISOString() };
    return new RolloutMemory('app').facts(observation(found, at, converged)).rollingSince;
  };

  test('counts from the restart, or from when the condition began to be false, after the memory was lost', () => {
    expect(since(now, rolling)).toBe(now);
    expect(since(now, rolling, 'True', 'Converged')).toBe(now);
    expect(since(now, rolling, 'False')).toBe(now - 90_000);
    expect(since(now, rolling, 'False', 'WorkloadNotFound')).toBe(now);
    expect(since(now, workload({ updated: 1, marks: marked(data, now - 30_000) }), 'False')).toBe(now - 30_000);
    expect(since(now, workload({ updated: 1, marks: marked(data, now + 3_600_000) }), 'False')).toBe(now);
  });

  test('goes on as long as the rollout does, and starts again with the next', () => {
    const memory = new RolloutMemory('app');
    const at = (moment: number, found: Workload): number => {
      memory.observe(observation(found, moment));
      return memory.facts(observation(found, moment)).rollingSince;
    };
    expect(at(now, rolling)).toBe(now);
    expect(at(now + 5000, rolling)).toBe(now);
    at(now + 6000, workload());
    expect(at(now + 9000, rolling)).toBe(now + 9000);
  });

  test('is not noted by asking for it', () => {
    const memory = new RolloutMemory('app');
    expect(memory.facts(observation(rolling)).rollingSince).toBe(now);
    expect(memory.facts(observation(rolling, now + 5000)).rollingSince).toBe(now + 5000);
  });
});
