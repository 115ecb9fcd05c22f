import { describe, expect, test } from '@jest/globals';
import type { Progress } from '../../../src/controller/frame/conditions.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { ErrorCode } from '../../../src/domain/errors/catalogue.ts';
import {
  judgeComplete,
  judgeFailure,
  judgeOutdated,
  judgePlanned,
} from '../../../src/controller/kinds/snapshot-restore/judge.ts';
import * as messages from '../../../src/controller/kinds/snapshot-restore/messages.ts';
import type { ReportedKeys } from '../../../src/domain/fleet.ts';
import type { ClaimedRestore, ResourcePlan } from '../../../src/domain/resources/restores.ts';

const metadata = { namespace: 'team-a', name: 'back' };
const listOf = (...keys: string[]): ReportedKeys => ({ count: keys.length, keys });
const lists = {
  restored: listOf('A', 'B'),
  recreated: listOf('F'),
  unchanged: listOf(),
  skipped: listOf('C'),
  destroyed: listOf('E'),
  pruned: listOf('D'),
};
const place = { snapshotId: 'snapshot-1', environmentId: 'environment-1', environment: 'acme/web/prod' };
const plan: ResourcePlan = { ...place, ...lists, planHash: 'hash', revision: 7, revisionId: 'revision-7' };
const counts = { restored: 2, recreated: 1, unchanged: 0, skipped: 1, destroyed: 1, pruned: 1 };
const planFacts = { environment: 'acme/web/prod', revision: 7, snapshotId: 'snapshot-1', counts };
const approval = { namespace: 'team-a', name: 'back', planHash: 'hash' };

function restored(more: Partial<ClaimedRestore> = {}): ClaimedRestore {
  return {
    ...place,
    ...lists,
    planHash: 'hash',
    from: { revision: 7, revisionId: 'revision-7' },
    backupSnapshotId: 'backup-1',
    revision: 8,
    revisionId: 'revision-8',
    startedAt: new Date('2026-01-01T00:00:00.250Z'),
    completedAt: new Date('2026-01-01T00:00:01.750Z'),
    ...more,
  };
}

const planFields = {
  ...place,
  planHash: 'hash',
  plan: { revision: 7, revisionId: 'revision-7', ...lists },
};

/** `Planned True Planned` and the like. */
const brief = ({ conditions = [] }: ReturnType<typeof judgeFailure>): string[] =>
  conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('the status of a SnapshotRestore', () => {
  test('reports a plan, and the command that approves it', () => {
    const outcome = judgePlanned(metadata, plan);
    expect(outcome).toMatchObject({
      claim: {
        progress: 'done',
        reason: 'Planned',
        message: messages.planned(planFacts, approval),
      },
      fields: planFields,
    });
    expect(brief(outcome)).toEqual(['Planned True Planned', 'Complete False NotApproved', 'Failed False NotApproved']);
  });

  test('reports that an approved plan is outdated, with the current one', () => {
    const outcome = judgeOutdated(metadata, plan);
    expect(outcome.claim).toMatchObject({ progress: 'stalled', reason: 'PlanOutdated' });
    expect(outcome.claim.message).toBe(messages.outdated(planFacts, approval));
    expect(outcome.fields).toEqual(planFields);
    expect(brief(outcome)).toEqual([
      'Planned True Planned',
      'Complete False PlanOutdated',
      'Failed False PlanOutdated',
    ]);
  });

  test('reports a completed restore, with its plan', () => {
    const outcome = judgeComplete(restored());
    expect(outcome).toMatchObject({
      claim: {
        progress: 'done',
        reason: 'Complete',
        message: messages.complete({ ...planFacts, revision: 8, backupSnapshotId: 'backup-1' }),
      },
      fields: {
        ...planFields,
        result: {
          restored: 2,
          recreated: 1,
          unchanged: 0,
          skipped: 1,
          destroyed: 1,
          pruned: 1,
          revision: 8,
          revisionId: 'revision-8',
        },
        backupSnapshotId: 'backup-1',
        startTime: '2026-01-01T00:00:00Z',
        completionTime: '2026-01-01T00:00:01Z',
      },
    });
    expect(brief(outcome)).toEqual(['Planned True Planned', 'Complete True Complete', 'Failed False Complete']);
    expect(outcome.next).toBeUndefined();
  });

  test('reports that nothing changed', () => {
    const nothing = {
      restored: listOf(),
      recreated: listOf(),
      pruned: listOf(),
      backupSnapshotId: null,
      revision: 7,
      revisionId: 'revision-7',
    };
    const { claim, fields } = judgeComplete(restored(nothing));
    const noCounts = { ...counts, restored: 0, recreated: 0, pruned: 0 };
    expect(claim.message).toBe(messages.complete({ ...planFacts, counts: noCounts, backupSnapshotId: null }));
    expect(fields).toMatchObject({ backupSnapshotId: undefined, result: { revision: 7 } });
  });

  test('reports what was done without a plan', () => {
    const outcome = judgeComplete(restored({ planHash: null }));
    expect(outcome.fields).toMatchObject({ planHash: undefined, plan: planFields.plan });
    expect(brief(outcome)[0]).toBe('Planned False Unplanned');
  });
});

describe('what hinders a SnapshotRestore', () => {
  test.each<[ErrorCode, string, Progress]>([
    ['forbidden', 'AccessDenied', 'waiting'],
    ['not_found', 'NotFound', 'waiting'],
    ['snapshot_not_found', 'SnapshotNotFound', 'waiting'],
    ['snapshot_not_ready', 'SnapshotNotReady', 'waiting'],
    ['snapshot_gone', 'SnapshotGone', 'stalled'],
    ['quota_exceeded', 'QuotaExceeded', 'stalled'],
  ])('takes its plan away until the cause is gone (%s)', (code, reason, progress) => {
    const outcome = judgeFailure(new DomainError(code, 'why'));
    expect(outcome.claim).toEqual({ progress, reason, message: 'Why.' });
    expect(outcome.fields).toEqual({ plan: undefined, planHash: undefined });
    expect(brief(outcome)).toEqual([`Planned False ${reason}`, `Complete False ${reason}`, `Failed False ${reason}`]);
  });

  test.each<[ErrorCode, string]>([
    ['environment_deleted', 'EnvironmentDeleted'],
    ['already_restored', 'AlreadyRestored'],
    ['invalid_input', 'InvalidSpec'],
  ])('fails it for good where nothing can mend it (%s)', (code, reason) => {
    const outcome = judgeFailure(new DomainError(code, 'why'));
    expect(outcome.claim).toMatchObject({ progress: 'stalled', reason });
    expect(outcome.fields).toEqual({ plan: undefined, planHash: undefined });
    expect(brief(outcome)).toEqual([`Planned False ${reason}`, `Complete False ${reason}`, `Failed True ${reason}`]);
  });

  test.each<ErrorCode>(['store_unavailable', 'overloaded', 'cluster_unavailable'])(
    'lets its plan stand where it is tried again by itself (%s)',
    (code) => {
      const outcome = judgeFailure(new DomainError(code, 'why'));
      expect(outcome).toMatchObject({ claim: { progress: 'reconciling' }, next: { kind: 'retry' }, fields: {} });
      expect(outcome.fields).not.toHaveProperty('plan');
      expect(brief(outcome).map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
        'Complete False',
        'Failed False',
      ]);
    },
  );

  test('keeps everything that is reported of a restore which the database has forgotten', () => {
    const outcome = judgeFailure(new DomainError('restore_forgotten', 'why'));
    expect(outcome).toMatchObject({ claim: { progress: 'stalled', reason: 'RestoreForgotten' }, fields: {} });
    expect(outcome.fields).not.toHaveProperty('plan');
    expect(brief(outcome)).toEqual(['Complete False RestoreForgotten', 'Failed True RestoreForgotten']);
  });
});
