import { expect, test } from '@jest/globals';
import { Metrics } from '../../../src/observability/metrics.ts';
import {
  type ResourceState,
  type ResourceStates,
  maxResourceSeries,
} from '../../../src/observability/resource-metrics.ts';

const nowMs = Date.parse('2026-01-02T00:00:00Z');
const sync: ResourceState = { kind: 'SecretSync', namespace: 'web', name: 'app', isReady: true, reason: 'Synced' };

function metricsOf(collect: () => ResourceStates): Metrics {
  const metrics = new Metrics();
  metrics.observeResources(collect, () => nowMs);
  return metrics;
}

/** The samples of a metric, in order. */
async function samplesOf(metrics: Metrics, name: string): Promise<string[]> {
  const lines = (await metrics.render()).split('\n');
  return lines.filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
}

test('each resource has a series with its reason, and counts by kind and reason', async () => {
  const since = { notReadySinceMs: nowMs - 90_000, lastSyncMs: nowMs - 86_400_000 };
  const broken = { ...sync, name: 'api', isReady: false, reason: 'AccessDenied', ...since };
  const metrics = metricsOf(() => ({ resources: [sync, broken], orphanedSecrets: 3 }));
  expect(await samplesOf(metrics, 'keyframe_resource_ready')).toEqual([
    'keyframe_resource_ready{kind="SecretSync",namespace="web",name="api",reason="AccessDenied"} 0',
    'keyframe_resource_ready{kind="SecretSync",namespace="web",name="app",reason="Synced"} 1',
  ]);
  expect(await samplesOf(metrics, 'keyframe_resources')).toEqual([
    'keyframe_resources{kind="SecretSync",ready="true",reason="Synced"} 1',
    'keyframe_resources{kind="SecretSync",ready="false",reason="AccessDenied"} 1',
  ]);
  expect(await samplesOf(metrics, 'keyframe_secret_sync_stale_seconds')).toEqual([
    'keyframe_secret_sync_stale_seconds{namespace="web",name="api"} 90',
    'keyframe_secret_sync_stale_seconds{namespace="web",name="app"} 0',
  ]);
  expect(await samplesOf(metrics, 'keyframe_orphaned_secrets')).toEqual(['keyframe_orphaned_secrets 3']);
});

test('a time is given in seconds, and only of a resource that has one', async () => {
  const token: ResourceState = { ...sync, kind: 'ServiceToken', reason: 'Issued' };
  const resources = [
    { ...sync, lastSyncMs: nowMs },
    { ...sync, name: 'new', isReady: false, reason: 'Pending' },
    { ...token, expiresMs: nowMs + 60_000 },
    { ...token, name: 'rotated', expiresMs: nowMs + 30_000, isRotated: true },
    { ...token, name: 'endless' },
  ];
  const metrics = metricsOf(() => ({ resources, orphanedSecrets: 0 }));
  expect(await samplesOf(metrics, 'keyframe_secret_sync_last_sync_timestamp_seconds')).toEqual([
    `keyframe_secret_sync_last_sync_timestamp_seconds{namespace="web",name="app"} ${nowMs / 1000}`,
  ]);
  expect(await samplesOf(metrics, 'keyframe_service_token_expiration_timestamp_seconds')).toEqual([
    `keyframe_service_token_expiration_timestamp_seconds{namespace="web",name="app",rotation="false"} ${nowMs / 1000 + 60}`,
    `keyframe_service_token_expiration_timestamp_seconds{namespace="web",name="rotated",rotation="true"} ${nowMs / 1000 + 30}`,
  ]);
});

test('the series of a resource end with it', async () => {
  let resources = [sync];
  const metrics = metricsOf(() => ({ resources, orphanedSecrets: 0 }));
  expect(await samplesOf(metrics, 'keyframe_resource_ready')).toHaveLength(1);
  resources = [];
  expect(await samplesOf(metrics, 'keyframe_resource_ready')).toEqual([]);
  expect(await samplesOf(metrics, 'keyframe_secret_sync_stale_seconds')).toEqual([]);
});

test('of ten thousand resources those that are not ready have series first, and every one is counted', async () => {
  const resources = Array.from({ length: 10_000 }, (_, index) => ({
    ...sync,
    name: `app-${index}`,
    isReady: index % 100 !== 99,
    reason: index % 100 === 99 ? 'AccessDenied' : 'Synced',
  }));
  const metrics = metricsOf(() => ({ resources, orphanedSecrets: 0 }));
  const ready = await samplesOf(metrics, 'keyframe_resource_ready');
  expect(ready).toHaveLength(maxResourceSeries);
  expect(ready.filter((line) => line.endsWith(' 0'))).toHaveLength(100);
  expect(await samplesOf(metrics, 'keyframe_secret_sync_stale_seconds')).toHaveLength(maxResourceSeries);
  expect(await samplesOf(metrics, 'keyframe_resources')).toEqual([
    'keyframe_resources{kind="SecretSync",ready="true",reason="Synced"} 9900',
    'keyframe_resources{kind="SecretSync",ready="false",reason="AccessDenied"} 100',
  ]);
  expect(await samplesOf(metrics, 'keyframe_resource_series_omitted')).toEqual([
    `keyframe_resource_series_omitted ${10_000 - maxResourceSeries}`,
  ]);
});
