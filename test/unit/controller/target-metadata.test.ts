import { describe, expect, test } from '@jest/globals';
import {
  isOwnedBy,
  metadataFits,
  targetMetadata,
} from '../../../src/controller/kinds/secret-sync/target/target-metadata.ts';
import { secretSync, targetMeta } from './builders.ts';

const labelled = secretSync({ target: { labels: { team: 'x' }, annotations: { 'example.com/a': 'b' } } });
const managed = '{"labels":["team"],"annotations":["example.com/a"]}';

describe('labels and annotations', () => {
  test('of the spec are set, and their names remembered', () => {
    expect(targetMetadata(labelled, undefined)).toEqual({
      name: 'app',
      labels: { team: 'x', 'keyframe.dev/target': 'true' },
      annotations: { 'example.com/a': 'b', 'keyframe.dev/owned-by': 'app', 'keyframe.dev/managed-metadata': managed },
      ownerReferences: [],
      finalizers: [],
    });
  });

  test('of others are kept, with finalizers', () => {
    const others = {
      labels: { mine: 'yes', 'keyframe.dev/target': 'true' },
      annotations: { note: 'n', 'keyframe.dev/owned-by': 'app' },
      finalizers: ['example.com/hold'],
    };
    expect(targetMetadata(secretSync(), targetMeta(others))).toMatchObject(others);
  });

  test('that the spec lists no longer are taken away, and those of others stay', () => {
    const before = targetMeta({
      labels: { team: 'x', mine: 'yes' },
      annotations: { 'example.com/a': 'b', note: 'n', 'keyframe.dev/managed-metadata': managed },
    });
    const { labels, annotations } = targetMetadata(secretSync(), before);
    expect(labels).toEqual({ mine: 'yes', 'keyframe.dev/target': 'true' });
    expect(annotations).toEqual({ note: 'n', 'keyframe.dev/owned-by': 'app' });
  });

  test('that someone else changed are set again', () => {
    const before = targetMeta({ labels: { team: 'y', 'keyframe.dev/target': 'no' } });
    expect(targetMetadata(labelled, before).labels).toEqual({ team: 'x', 'keyframe.dev/target': 'true' });
  });

  test.each(['not json', 'null', '{"labels":"team"}', '{"labels":[1,null]}'])(
    'are kept if the list of Keyframe’s keys was spoilt to %s',
    (text) => {
      const before = targetMeta({ labels: { mine: 'yes' }, annotations: { 'keyframe.dev/managed-metadata': text } });
      expect(targetMetadata(secretSync(), before).labels).toEqual({ mine: 'yes', 'keyframe.dev/target': 'true' });
    },
  );
});

describe('the owner reference', () => {
  const own = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'app', uid: 'uid-app' };
  const foreign = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'x' };
  const deleting = secretSync({ target: { deletionPolicy: 'Delete' } });

  test('exists only if the Secret goes with the SecretSync', () => {
    expect(targetMetadata(deleting, undefined).ownerReferences).toEqual([own]);
    expect(targetMetadata(secretSync(), undefined).ownerReferences).toEqual([]);
  });

  test('goes when the policy becomes Retain, and those of others stay', () => {
    const before = targetMeta({ ownerReferences: [foreign, own] });
    expect(targetMetadata(secretSync(), before).ownerReferences).toEqual([foreign]);
  });

  test('of a SecretSync that was deleted and made again gets the new uid, in its old place', () => {
    const before = targetMeta({ ownerReferences: [{ ...own, uid: 'old' }, foreign] });
    expect(targetMetadata(deleting, before).ownerReferences).toEqual([own, foreign]);
  });
});

describe('metadata fits', () => {
  test('as it was made, whatever others added', () => {
    const made = targetMetadata(labelled, undefined);
    expect(metadataFits(labelled, targetMeta(made))).toBe(true);
    const more = { ...made, labels: { ...made.labels, mine: 'yes' }, finalizers: ['example.com/hold'] };
    expect(metadataFits(labelled, targetMeta(more))).toBe(true);
  });

  test('no longer if something of Keyframe’s lacks, differs or is left over', () => {
    const made = targetMetadata(labelled, undefined);
    expect(metadataFits(labelled, targetMeta({ ...made, labels: { team: 'x' } }))).toBe(false);
    expect(metadataFits(labelled, targetMeta({ ...made, labels: { ...made.labels, team: 'y' } }))).toBe(false);
    expect(metadataFits(labelled, targetMeta({ ...made, annotations: { 'keyframe.dev/owned-by': 'app' } }))).toBe(
      false,
    );
    expect(metadataFits(secretSync(), targetMeta(made))).toBe(false);
    expect(metadataFits(secretSync({ target: { deletionPolicy: 'Delete' } }), targetMeta())).toBe(false);
  });
});

test('a Secret belongs to the SecretSync that its annotation names, and to no other', () => {
  expect(isOwnedBy(targetMeta(), secretSync())).toBe(true);
  expect(isOwnedBy(targetMeta(), secretSync({ name: 'other' }))).toBe(false);
  const unnamed = targetMeta();
  delete unnamed.annotations;
  expect(isOwnedBy(unnamed, secretSync())).toBe(false);
});
