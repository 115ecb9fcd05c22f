import { describe, expect, test } from '@jest/globals';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import { isOwnedBy as isOwnedByToken } from '../../../src/controller/kinds/service-token/observe.ts';
import { isOfferedTo, isOwnedBy } from '../../../src/controller/kinds/secret-sync/target/target-metadata.ts';
import { bearsProof } from '../../../src/controller/kinds/snapshot-schedule/child.ts';
import type { ObjectMeta } from '../../../src/kube/client/objects.ts';
import { secretSync, targetMeta } from './builders.ts';

/** Anyone may label an object, and selectors need labels: a label alone must never make a thing Keyframe's own. */

const labels = {
  'keyframe.dev/target': 'true',
  'keyframe.dev/token': 'true',
  'keyframe.dev/owned-by': 'app',
  'keyframe.dev/owned-by-token': 'app',
  'keyframe.dev/schedule': 'app',
  'app.kubernetes.io/managed-by': 'keyframe',
};

function labelled(annotations?: Record<string, string>): ObjectMeta {
  const { annotations: _, ...metadata } = targetMeta({ labels });
  return annotations === undefined ? metadata : { ...metadata, annotations };
}

describe('an object with every label of Keyframe', () => {
  const token = { metadata: { name: 'app', namespace: 'team-a', uid: 'uid', resourceVersion: '1' } } as ServiceToken;

  test('belongs to no SecretSync unless the annotation says so', () => {
    expect(isOwnedBy(labelled(), secretSync())).toBe(false);
    expect(isOwnedBy(labelled({ 'keyframe.dev/owned-by': 'other' }), secretSync())).toBe(false);
    expect(isOwnedBy(labelled({ 'keyframe.dev/owned-by': 'app' }), secretSync())).toBe(true);
  });

  test('belongs to no ServiceToken unless the annotation says so', () => {
    expect(isOwnedByToken({ metadata: labelled() }, token)).toBe(false);
    expect(isOwnedByToken({ metadata: labelled({ 'keyframe.dev/owned-by-token': 'other' }) }, token)).toBe(false);
    expect(isOwnedByToken({ metadata: labelled({ 'keyframe.dev/owned-by-token': 'app' }) }, token)).toBe(true);
  });

  test('belongs to no SnapshotSchedule without its proof', () => {
    expect(bearsProof({ metadata: labelled() }, 'proof')).toBe(false);
    expect(bearsProof({ metadata: labelled({ 'keyframe.dev/schedule-proof': 'other' }) }, 'proof')).toBe(false);
  });
});

/** An unmanaged Secret that is offered to a SecretSync of this name. */
function offered(name: string): ObjectMeta {
  return targetMeta({ labels: {}, annotations: { 'keyframe.dev/allow-adoption': name } });
}

test('a Secret is offered to the SecretSync whose name its annotation has', () => {
  expect(isOfferedTo(offered('app'), secretSync())).toBe(true);
});

// Names of neighbours in the namespace of the SecretSync «app».
test.each(['app2', 'app-x', 'my-app', 'ap', 'App', 'app ', ' app', 'app,other', ''])(
  'a Secret whose annotation says %j is not that of a resource named app',
  (name) => {
    const token = { metadata: { name: 'app', namespace: 'team-a', uid: 'uid', resourceVersion: '1' } } as ServiceToken;
    expect(isOwnedBy(labelled({ 'keyframe.dev/owned-by': name }), secretSync())).toBe(false);
    expect(isOfferedTo(offered(name), secretSync())).toBe(false);
    expect(isOwnedByToken({ metadata: labelled({ 'keyframe.dev/owned-by-token': name }) }, token)).toBe(false);
  },
);
