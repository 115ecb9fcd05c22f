import { describe, expect, test } from '@jest/globals';
import type { SecretSnapshotSpec } from '../../../src/controller/generated/secret-snapshot.ts';
import { expiryOf, isExpired, judge } from '../../../src/controller/kinds/secret-snapshot/judge.ts';
import { held } from '../../../src/controller/kinds/secret-snapshot/messages.ts';
import type { ClaimedSnapshot } from '../../../src/domain/resources/snapshots.ts';

const takenAt = new Date('2026-01-01T00:00:00.750Z');
const hourMs = 3_600_000;

function spec(more: Partial<SecretSnapshotSpec> = {}): SecretSnapshotSpec {
  const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
  return { source: { environmentRef }, deletionPolicy: 'Retain', suspend: false, ...more };
}

function taken(more: Partial<ClaimedSnapshot> = {}): ClaimedSnapshot {
  return {
    id: 'snapshot-1',
    createdAt: takenAt,
    secretCount: 2,
    revision: 7,
    revisionId: 'revision-7',
    adopted: false,
    environmentId: 'environment-1',
    organization: 'acme',
    project: 'web',
    environment: 'prod',
    environmentDeleted: false,
    digest: 'abc',
    ...more,
  };
}

const expiring = spec({ deletionPolicy: 'Delete', expiresIn: '1h' });

describe('the status of a SecretSnapshot', () => {
  test('reports the snapshot that was taken', () => {
    expect(judge(spec(), taken(), takenAt.getTime())).toEqual({
      claim: {
        progress: 'done',
        reason: 'Taken',
        message: held({ id: 'snapshot-1', secretCount: 2, place: 'acme/web/prod', revision: 7 }),
      },
      fields: {
        snapshotId: 'snapshot-1',
        environmentId: 'environment-1',
        environment: 'acme/web/prod',
        revision: 7,
        revisionId: 'revision-7',
        secretCount: 2,
        digest: 'abc',
        takenAt: '2026-01-01T00:00:00Z',
        expiresAt: undefined,
      },
    });
  });

  test('of an environment without any change names no revision id', () => {
    const { fields } = judge(spec(), taken({ revision: 0, revisionId: null, secretCount: 0 }), 0);
    expect(fields).toMatchObject({ revision: 0, revisionId: undefined, secretCount: 0 });
  });

  test('distinguishes an adopted one from one that was taken', () => {
    expect(judge(spec(), taken({ adopted: true }), 0).claim).toMatchObject({ progress: 'done', reason: 'Adopted' });
  });

  test('reports when it goes, and has the controller come back just then', () => {
    const outcome = judge(expiring, taken(), takenAt.getTime() + 1000);
    expect(outcome.fields).toMatchObject({ expiresAt: '2026-01-01T01:00:00Z' });
    expect(outcome.next).toEqual({ kind: 'after', delayMs: hourMs - 1000 });
  });

  test('of one that was deleted stalls, and promises no end', () => {
    const outcome = judge(expiring, 'gone', 0);
    expect(outcome.claim).toMatchObject({ progress: 'stalled', reason: 'SnapshotGone' });
    expect(outcome.fields).toEqual({ expiresAt: undefined });
    expect(outcome.next).toBeUndefined();
  });

  test('of one whose environment was deleted stalls, and still ends in time', () => {
    const outcome = judge(expiring, taken({ environmentDeleted: true }), takenAt.getTime());
    expect(outcome.claim).toMatchObject({ progress: 'stalled', reason: 'EnvironmentDeleted' });
    expect(outcome.next).toEqual({ kind: 'after', delayMs: hourMs });
  });
});

describe('the end of a SecretSnapshot', () => {
  test('is counted from when the snapshot was taken', () => {
    expect(expiryOf({ expiresIn: '1h30m' }, takenAt)).toBe(takenAt.getTime() + 1.5 * hourMs);
    expect(expiryOf({}, takenAt)).toBeUndefined();
  });

  test('has come at that moment and not before', () => {
    const endMs = takenAt.getTime() + hourMs;
    expect(isExpired(expiring, taken(), endMs - 1)).toBe(false);
    expect(isExpired(expiring, taken(), endMs)).toBe(true);
  });

  test('never comes if none is set, the snapshot is gone, or it was adopted', () => {
    expect(isExpired(spec({ deletionPolicy: 'Delete' }), taken(), Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(isExpired(expiring, 'gone', Number.MAX_SAFE_INTEGER)).toBe(false);
    expect(isExpired(expiring, taken({ adopted: true }), Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});
