import { revisions } from '../../../src/controller/kinds/secret-sync/messages.ts';
import { describe, expect, test } from '@jest/globals';
import { dataMark } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import { judge } from '../../../src/controller/kinds/secret-sync/judge/judge.ts';
import {
  encodedRecord,
  mergedRecordOf,
  recordAnnotationOf,
} from '../../../src/controller/kinds/secret-sync/target/merge-identity.ts';
import {
  formatRolledBack,
  presentRollback,
  retryOf,
  rolledBackOf,
} from '../../../src/controller/kinds/secret-sync/rollback/rolled-back.ts';
import { secretSync, targetMeta } from './builders.ts';
import { facts, lossy, merging, owned, wanted } from './judge-facts.ts';
import type { RolledBack } from '../../../src/controller/kinds/secret-sync/model.ts';

const annotation = 'keyframe.dev/rolled-back';
const [failed, held] = ['f'.repeat(32), 'a'.repeat(32)];
const rolledBack: RolledBack = {
  data: failed,
  sources: [{ revision: 8, revisionId: 'r8' }],
  held: { data: held, sources: [{ revision: 7, revisionId: 'r7' }] },
  cause: 'Deployment web, container main: CrashLoopBackOff',
};
const record = { [annotation]: formatRolledBack(rolledBack) };

describe('the record of a Secret that was taken back', () => {
  test('is read as it was written, on a Secret of its own and on one of others', () => {
    const all: RolledBack = {
      ...rolledBack,
      retry: '0'.repeat(32),
      sources: [
        { name: 'own', revision: 8, revisionId: 'r8' },
        { name: 'shared', revision: 2, revisionId: 'r2' },
      ],
    };
    expect(rolledBackOf({ [annotation]: formatRolledBack(all) })).toEqual(all);
    const annotations = { [recordAnnotationOf(merging)]: encodedRecord(record) };
    expect(rolledBackOf(mergedRecordOf(targetMeta({ annotations }), merging))).toEqual(rolledBack);
  });

  test('is the same text in whatever order the status has its fields, and without what is not known', () => {
    const { cause, held: to, ...rest } = rolledBack;
    const shuffled = { more: 'x', cause, held: { sources: to.sources, data: to.data }, ...rest };
    expect(formatRolledBack(shuffled as unknown as RolledBack)).toBe(formatRolledBack(rolledBack));
    expect(rolledBackOf({ [annotation]: JSON.stringify(shuffled) })).toEqual(rolledBack);
  });

  test.each<readonly [string, unknown]>([
    ['is no JSON', 'x{'],
    ['is a list', []],
    ['holds nothing', { ...rolledBack, held: undefined }],
    ['has data that is no mark', { ...rolledBack, data: 'secret' }],
    ['has no source', { ...rolledBack, sources: [] }],
    ['has a revision that is no number', { ...rolledBack, sources: [{ revision: '8', revisionId: 'r8' }] }],
    [
      'has an id that could be anything',
      { ...rolledBack, held: { data: held, sources: [{ revision: 7, revisionId: '../x' }] } },
    ],
    ['has an invalid cause', { ...rolledBack, cause: '<script>' }],
    ['has a retry that is no digest', { ...rolledBack, retry: 'now' }],
  ])('is none if it %s', (_, recorded) => {
    const text = typeof recorded === 'string' ? recorded : JSON.stringify(recorded);
    expect(rolledBackOf({ [annotation]: text })).toBeUndefined();
  });
});

describe('what a Secret is rolled back to', () => {
  const fingerprint = Buffer.alloc(32, 0xaa);
  const source = { 'keyframe.dev/source': 'acme/web/prod@e' };
  const known: RolledBack = { ...rolledBack, cause: 'known before' };

  test.each<readonly [string, Parameters<typeof presentRollback>[0], RolledBack | undefined]>([
    ['the one in its record, whatever was known before', { ...owned, record: { ...source, ...record } }, rolledBack],
    ['the one known before if it is gone', { state: 'absent' }, known],
    ['the one known before if its record was damaged', { ...owned, record: {} }, known],
    ['the one known before if it still holds that data', { ...owned, record: source, fingerprint }, known],
    ['nothing, where it went forward', { ...owned, record: source }, undefined],
  ])('%s', (_, target, expected) => {
    expect(dataMark(fingerprint)).toBe(held);
    expect(presentRollback(target, known)).toEqual(expected);
  });

  test('is nothing without any record of it', () => {
    expect(presentRollback({ state: 'absent' }, undefined)).toBeUndefined();
    expect(presentRollback({ ...owned, record: {} }, undefined)).toBeUndefined();
  });
});

describe('the limit of lost keys', () => {
  const back = { ...wanted, rolledBack, record: { ...wanted.record, ...record } };

  test('does not count what vanishes by going back, and counts as usual on the way forward', () => {
    expect(judge(facts({ target: lossy(), wanted: back })).action).toBe('replace');
    const forward = judge(facts({ target: lossy({ record: back.record }), wanted }));
    expect(forward).toMatchObject({ action: 'skip', error: { code: 'deletion_blocked' } });
  });

  test('does not keep a Secret from being left alone once it went back', () => {
    expect(judge(facts({ target: { ...owned, record: back.record }, wanted: back })).action).toBe('keep');
    expect(judge(facts({ target: owned, wanted: back })).action).toBe('replace');
  });
});

test('another try is asked for by each value of the annotation', () => {
  const asking = (value: string): string | undefined =>
    retryOf(secretSync({ metadata: { annotations: { 'keyframe.dev/retry-rollout': value } } }));
  expect(retryOf(secretSync())).toBeUndefined();
  expect(asking('')).toMatch(/^[0-9a-f]{32}$/);
  expect(asking('1')).not.toBe(asking('2'));
});

test('revisions are named with their source if there are several', () => {
  expect(revisions([{ revision: 7, revisionId: 'r7' }])).toBe('revision 7');
  const two = [
    { name: 'own', revision: 7, revisionId: 'r7' },
    { name: 'shared', revision: 3, revisionId: 'r3' },
  ];
  expect(revisions(two)).toBe('revision 7 of own and revision 3 of shared');
});
