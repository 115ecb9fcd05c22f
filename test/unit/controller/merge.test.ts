import { describe, expect, test } from '@jest/globals';
import { SecretClaims } from '../../../src/controller/kinds/secret-claims/claims.ts';
import { SyncMemories } from '../../../src/controller/kinds/secret-sync/memory.ts';
import { observeSharedTarget } from '../../../src/controller/kinds/secret-sync/target/observe-shared.ts';
import { contentObstacle, metadataObstacle } from '../../../src/controller/kinds/secret-sync/target/merge-consent.ts';
import {
  encodedRecord,
  fieldManagerOf,
  mergedRecordOf,
  recordAnnotationOf,
} from '../../../src/controller/kinds/secret-sync/target/merge-identity.ts';
import { tooLargeTogether } from '../../../src/controller/kinds/secret-sync/messages.ts';
import { mergeConflict, mergeForbidden } from '../../../src/controller/kinds/secret-sync/ownership-messages.ts';
import { targetError } from '../../../src/controller/kinds/secret-sync/target/target-error.ts';
import { ApiError, type ErrorCause } from '../../../src/kube/client/api-error.ts';
import type { ObjectMeta } from '../../../src/kube/client/objects.ts';
import { fingerprint, secretSync, targetMeta } from './builders.ts';
import type { MergeObstacle } from '../../../src/controller/kinds/secret-sync/model.ts';

const sync = secretSync({ target: { name: 'shared', creationPolicy: 'Merge' } });
const consenting = { 'keyframe.dev/allow-merge': 'app' };

const shared = (more: Partial<ObjectMeta>): ObjectMeta =>
  targetMeta({ name: 'shared', labels: {}, annotations: consenting, ...more });

const obstacles: readonly [sentence: string, secret: ObjectMeta, obstacle: MergeObstacle | undefined][] = [
  ['names the SecretSync may be merged into', shared({}), undefined],
  [
    'names it among others may be merged into',
    shared({ annotations: { 'keyframe.dev/allow-merge': 'a, app ,b' } }),
    undefined,
  ],
  ['gives no consent', shared({ annotations: {} }), { kind: 'no-consent', allowed: [] }],
  [
    'names others, as far as those are names',
    shared({ annotations: { 'keyframe.dev/allow-merge': 'application,app.b,`rm`,*,' } }),
    { kind: 'no-consent', allowed: ['application', 'app.b'] },
  ],
  [
    'is a SecretSync’s own, whatever it allows',
    shared({ annotations: { ...consenting, 'keyframe.dev/owned-by': 'app' } }),
    { kind: 'owned', owner: 'app' },
  ],
  [
    'is a ServiceToken’s by its annotation, whatever it allows',
    shared({ annotations: { ...consenting, 'keyframe.dev/owned-by-token': 'ci' } }),
    { kind: 'token-secret' },
  ],
  ['is a ServiceToken’s by its label', shared({ labels: { 'keyframe.dev/token': 'true' } }), { kind: 'token-secret' }],
  ['is being deleted', shared({ deletionTimestamp: '2026-01-01T00:00:00Z' }), { kind: 'deleting' }],
];

describe('a Secret that', () => {
  test.each(obstacles)('%s', (_, secret, obstacle) => expect(metadataObstacle(secret, sync)).toEqual(obstacle));

  test.each(['app2', 'app-x', 'app.x', 'ap', 'a', 'pp', 'my-app', 'app-app'])(
    'names a SecretSync gives no consent to %s, whose name is similar',
    (name) => {
      const other = secretSync({ name, target: { name: 'shared', creationPolicy: 'Merge' } });
      expect(metadataObstacle(shared({}), other)).toEqual({ kind: 'no-consent', allowed: ['app'] });
    },
  );

  test('names a SecretSync in capitals gives no consent', () => {
    const annotations = { 'keyframe.dev/allow-merge': 'APP,App' };
    expect(metadataObstacle(shared({ annotations }), sync)).toEqual({ kind: 'no-consent', allowed: [] });
  });

  test('is immutable or of a ServiceAccount is not merged into, one of another type is', () => {
    expect(contentObstacle({ immutable: true })).toEqual({ kind: 'immutable' });
    expect(contentObstacle({ type: 'kubernetes.io/service-account-token' })).toEqual({ kind: 'service-account-token' });
    expect(contentObstacle({ type: 'kubernetes.io/tls', immutable: false })).toBeUndefined();
    expect(contentObstacle({})).toBeUndefined();
  });
});

describe('a SecretSync is known on the Secret of others', () => {
  test('by its name', () => {
    expect(fieldManagerOf(sync)).toBe('keyframe-merge-app');
    expect(recordAnnotationOf(sync)).toBe('merge.keyframe.dev/app');
  });

  test('by the beginning of a long name and its digest, in all the room that there is and no more', () => {
    const names = ['a'.repeat(62), 'a'.repeat(63), 'a'.repeat(253), `${'a'.repeat(252)}b`].map((name) =>
      secretSync({ name }),
    );
    const annotations = names.map((named) => recordAnnotationOf(named).slice('merge.keyframe.dev/'.length));
    expect(annotations.map((name) => name.length)).toEqual([62, 63, 63, 63]);
    expect(new Set(annotations).size).toBe(4);
    expect(new Set(names.map(fieldManagerOf)).size).toBe(4);
    for (const annotation of annotations) expect(annotation).toMatch(/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/);
    for (const named of names) expect(fieldManagerOf(named).length).toBeLessThanOrEqual(128);
  });
});

describe('the record of merged keys', () => {
  const record = { 'keyframe.dev/source': 'acme/web/prod@e', 'keyframe.dev/renamed': '{"a":"A"}' };
  const carrying = (text: string): ObjectMeta => shared({ annotations: { 'merge.keyframe.dev/app': text } });

  test('is one annotation, and read from it again', () => {
    expect(encodedRecord(record)).toBe('{"source":"acme/web/prod@e","renamed":"{\\"a\\":\\"A\\"}"}');
    expect(mergedRecordOf(carrying(encodedRecord(record)), sync)).toEqual(record);
  });

  test.each(['', 'x', 'null', '[]', '7', '{"source":7,"other":"x"}'])('that was spoilt to «%s» is none', (text) =>
    expect(mergedRecordOf(carrying(text), sync)).toEqual({}),
  );

  test('of another SecretSync, or of a Secret that is one’s own, does not count', () => {
    const annotations = { 'merge.keyframe.dev/other': encodedRecord(record), ...record };
    expect(mergedRecordOf(shared({ annotations }), sync)).toEqual({});
  });
});

describe('the refusal', () => {
  const annotate = '`kubectl annotate --overwrite secret -n ns shared keyframe.dev/allow-merge=';

  test.each<[sentence: string, obstacle: MergeObstacle, code: string, detail: string]>([
    [
      'of no Secret says to make it',
      { kind: 'absent' },
      'target_not_found',
      'kubectl create secret generic -n ns shared`',
    ],
    [
      'without consent shows how to give it',
      { kind: 'no-consent', allowed: [] },
      'target_not_owned',
      `${annotate}app\`.`,
    ],
    [
      'without consent keeps that of others',
      { kind: 'no-consent', allowed: ['a', 'b'] },
      'target_not_owned',
      `${annotate}a,b,app\`.`,
    ],
    [
      'without consent repeats no list that is too long to copy',
      { kind: 'no-consent', allowed: Array.from({ length: 9 }, (_, n) => `${n}`.repeat(50)) },
      'target_not_owned',
      `${annotate}app\` with the names that the annotation already lists before it.`,
    ],
    ['of a SecretSync’s own names it', { kind: 'owned', owner: 'other' }, 'merge_refused', 'the SecretSync other. '],
    [
      'of a spoilt owner does not repeat it',
      { kind: 'owned', owner: 'a b' },
      'merge_refused',
      'belongs to a SecretSync. ',
    ],
    ['of a token Secret', { kind: 'token-secret' }, 'merge_refused', 'a ServiceToken'],
    ['of an immutable Secret', { kind: 'immutable' }, 'merge_refused', 'is immutable'],
    ['of a Secret that goes', { kind: 'deleting' }, 'merge_refused', 'is being deleted'],
    [
      'of a ServiceAccount’s',
      { kind: 'service-account-token' },
      'merge_refused',
      'kubernetes.io/service-account-token',
    ],
  ])('%s', (_, obstacle, code, detail) => {
    const error = mergeForbidden(sync, obstacle);
    expect(error.code).toBe(code);
    expect(error.detail).toContain(detail);
    // An Event holds no more.
    expect(error.detail.length).toBeLessThan(1024);
  });

  const conflict = (field: string, manager: string | undefined): ErrorCause => ({
    reason: 'FieldManagerConflict',
    field,
    manager,
  });
  const answer = (causes: readonly ErrorCause[]): ApiError => new ApiError('PATCH', 409, 'Conflict', { causes });

  test('of a conflict names the keys and who holds them', () => {
    const causes = [conflict('.data.tls.crt', 'kubectl-edit'), conflict('.data.B', undefined)];
    const error = mergeConflict(sync, answer(causes));
    expect(error?.code).toBe('merge_conflict');
    expect(error?.detail).toContain(': tls.crt (kubectl-edit), B (a manager without a plain name). ');
  });

  test('of a conflict about our annotation says to take it off', () => {
    const causes = [conflict('.metadata.annotations.merge.keyframe.dev/app', 'kubectl-annotate')];
    const error = mergeConflict(sync, answer(causes));
    expect(error?.code).toBe('merge_conflict');
    expect(error?.detail).toContain('annotations of Secret shared');
    expect(error?.detail).toContain(': merge.keyframe.dev/app (kubectl-annotate). ');
  });

  test('of a conflict of versions is none: the Secret is looked at again', () => {
    expect(mergeConflict(sync, answer([]))).toBeUndefined();
    expect(mergeConflict(sync, new Error('x'))).toBeUndefined();
  });

  test('of values that are too many together says so, of anything else that the API server may have meant it', () => {
    const tooLong = { reason: 'FieldValueTooLong', field: 'data', manager: undefined };
    const invalid = new ApiError('PATCH', 422, 'Invalid', { causes: [tooLong] });
    expect(targetError(invalid, sync)).toEqual(tooLargeTogether(sync, invalid));
    expect(targetError(invalid, secretSync())?.code).toBe('target_refused');
    expect(targetError(new ApiError('PATCH', 422, 'Invalid'), sync)?.detail).toContain("the Secret's type");
  });
});

test('no value that kubectl applied stays in memory after a Secret was read', async () => {
  const canary = Buffer.from('canary').toString('base64');
  const metadata = shared({
    annotations: { ...consenting, 'kubectl.kubernetes.io/last-applied-configuration': `{"data":{"A":"${canary}"}}` },
    managedFields: [{ manager: 'keyframe-merge-app', operation: 'Apply', fieldsV1: { 'f:data': { 'f:A': {} } } }],
  });
  const memory = new SyncMemories().ensure('ns/app');
  const observed = await observeSharedTarget(
    {
      secretsClient: { find: () => Promise.resolve({ metadata, type: 'Opaque', data: { A: canary } }) },
      fingerprint,
      watchedTarget: () => undefined,
      claims: new SecretClaims({ publish: () => {} }),
    },
    { resource: sync, memory },
    false,
  );
  expect(observed.target).toMatchObject({ state: 'shared', keys: ['A'] });
  const kept = JSON.stringify([observed, memory.target.current(undefined), memory.verified]);
  expect(kept).toContain('last-applied-configuration');
  expect(kept).not.toContain(canary);
  expect(kept).not.toContain('managedFields');
});
