import { describe, expect, test } from '@jest/globals';
import { resourceStates } from '../../../src/controller/frame/resource-states.ts';
import { secretSyncKind, serviceTokenKind } from '../../../src/kube/client/keyframe-kinds.ts';
import { type KubeObject, objectKey } from '../../../src/kube/client/objects.ts';
import type { NamedWatch } from '../../../src/controller/frame/named-watch.ts';

const createdAt = '2026-01-01T00:00:00Z';
const changedAt = '2026-01-01T01:00:00Z';

function resource(fields: {
  name?: string;
  spec?: object;
  status?: object;
  annotations?: Record<string, string>;
}): KubeObject {
  const { name = 'app', spec = {}, status, annotations = {} } = fields;
  const metadata = {
    name,
    namespace: 'web',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: createdAt,
    annotations,
  };
  return Object.assign({ metadata }, { spec, status });
}

function ready(status: 'True' | 'False', reason: string): object {
  return { conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: changedAt }] };
}

/** A watch that has listed these objects. */
function watch(kind: NamedWatch['kind'], ...objects: KubeObject[]): NamedWatch {
  const byKey = new Map(objects.map((object) => [objectKey(object.metadata), object]));
  const view = { get: (key: string) => byKey.get(key), keys: () => [...byKey.keys()] };
  const group = {
    onChange: () => {},
    ...view,
    start: () => {},
    stop: async () => {},
    synced: Promise.resolve(),
    isSynced: true,
    error: undefined,
  };
  return kind === undefined ? { name: 'Secrets', group } : { name: kind.plural, kind, group };
}

function stateOf(kind: NamedWatch['kind'], object: KubeObject): object | undefined {
  return [...resourceStates([watch(kind, object)]).resources][0];
}

describe('the state of a resource', () => {
  test('is ready with its reason and its last sync', () => {
    const status = { ...ready('True', 'Synced'), lastSyncTime: changedAt };
    expect(stateOf(secretSyncKind, resource({ status }))).toEqual({
      kind: 'SecretSync',
      namespace: 'web',
      name: 'app',
      isReady: true,
      reason: 'Synced',
      lastSyncMs: Date.parse(changedAt),
    });
  });

  test('is not ready since its condition changed', () => {
    expect(stateOf(secretSyncKind, resource({ status: ready('False', 'DeletionBlocked') }))).toMatchObject({
      isReady: false,
      reason: 'DeletionBlocked',
      notReadySinceMs: Date.parse(changedAt),
    });
  });

  test('is pending since its creation while nothing is reported', () => {
    const pending = { isReady: false, reason: 'Pending', notReadySinceMs: Date.parse(createdAt) };
    expect(stateOf(secretSyncKind, resource({}))).toMatchObject(pending);
  });

  test('is never late while it is suspended', () => {
    const suspended = resource({ spec: { suspend: true }, status: ready('False', 'Suspended') });
    expect(stateOf(secretSyncKind, suspended)).not.toHaveProperty('notReadySinceMs');
  });

  test('of a ServiceToken has its expiry and whether it is rotated', () => {
    const status = { ...ready('True', 'Issued'), expiresAt: changedAt };
    const expiresMs = Date.parse(changedAt);
    expect(stateOf(serviceTokenKind, resource({ status }))).toMatchObject({ expiresMs, isRotated: false });
    const spec = { rotation: { interval: '1h' } };
    expect(stateOf(serviceTokenKind, resource({ spec, status }))).toMatchObject({ expiresMs, isRotated: true });
  });
});

test('a Secret is orphaned if the SecretSync that it names as its owner does not exist', () => {
  const owned = (name: string, owner: string): KubeObject =>
    resource({ name, annotations: { 'keyframe.dev/owned-by': owner } });
  const secrets = watch(undefined, owned('app', 'app'), owned('old', 'gone'), resource({ name: 'other' }));
  expect(resourceStates([watch(secretSyncKind, resource({})), secrets]).orphanedSecrets).toBe(1);
  expect(resourceStates([]).orphanedSecrets).toBe(0);
});
