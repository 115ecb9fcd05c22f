import { createSecretKey, type KeyObject } from 'node:crypto';
import type { SecretSync, SecretSyncSpec, SecretSyncStatus } from '../../../src/controller/generated/secret-sync.ts';
import { clusterFingerprintKey } from '../../../src/crypto/fingerprint.ts';
import { setFingerprint } from '../../../src/lib/set-fingerprint.ts';
import type { ObjectMeta } from '../../../src/kube/client/objects.ts';
import type { Fingerprint } from '../../../src/controller/backend/fingerprint.ts';

export interface SyncOptions {
  readonly name?: string;
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<SecretSyncSpec>;
  readonly target?: Partial<SecretSyncSpec['target']>;
  readonly status?: SecretSyncStatus;
}

const onlySource: Partial<SecretSyncSpec> = {
  environmentRef: { organization: 'acme', project: 'web', name: 'prod' },
  tokenSecretRef: { name: 'token', key: 'token' },
};

/** The SecretSync ns/app, as the API server gives it; of acme/web/prod, unless it has sources. */
export function secretSync({
  name = 'app',
  metadata = {},
  spec = {},
  target = {},
  status,
}: SyncOptions = {}): SecretSync {
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SecretSync',
    metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '100', generation: 1, ...metadata },
    spec: {
      ...(spec.sources === undefined ? onlySource : {}),
      maxDeletedKeys: '50%',
      suspend: false,
      ...spec,
      target: { type: 'Opaque', creationPolicy: 'Create', deletionPolicy: 'Retain', ...target },
    },
    ...(status === undefined ? {} : { status }),
  };
}

/** The metadata of the Secret ns/app as the controller makes it. */
export function targetMeta(more: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name: 'app',
    namespace: 'ns',
    uid: 'uid-target',
    resourceVersion: '50',
    labels: { 'keyframe.dev/target': 'true' },
    annotations: { 'keyframe.dev/owned-by': 'app' },
    ...more,
  };
}

const key = createSecretKey(Buffer.alloc(32, 7));

/** The keyring's, under a MAC key of the tests. */
export function fingerprintKeyFor(cluster: string): KeyObject {
  return clusterFingerprintKey(key, cluster);
}

/** The fingerprints of the cluster of the harness. */
export const fingerprint: Fingerprint = (context, entries) =>
  setFingerprint(fingerprintKeyFor('test'), context, entries);
