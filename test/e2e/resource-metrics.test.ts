/** @default The controller reports every metric, and follows a SecretSync with them. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { declaredMetrics, sampleMetrics } from '../support/api/metric-samples.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const values = { PASSWORD: 'a-value-that-no-metric-shows' };
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  controller = await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** Waits until the exposition of the leader has a line; returns the exposition. */
function metricsWith(line: string): Promise<string> {
  return waitFor(`the metrics to have ${line}`, async () => {
    const text = await controller.metrics();
    return text.split('\n').includes(line) ? text : undefined;
  });
}

test('the controller reports every metric that an alert or a panel may ask for', async () => {
  const { declared } = await sampleMetrics({ kinds: ['SecretSync'], reasons: ['Synced'], statuses: [200] });
  expect(declared.length).toBeGreaterThan(10);
  expect(declaredMetrics(await controller.metrics())).toEqual(declared);
});

test('the metrics follow a SecretSync from ready to not ready and back, and hold none of its values', async () => {
  const site = await stack.makeSite({ values });
  await site.waitUntilSynced(values);
  const labels = `namespace="${site.namespace}",name="${site.name}"`;
  const ready = (reason: string): string => `keyframe_resource_ready{kind="SecretSync",${labels},reason="${reason}"}`;
  const text = await metricsWith(`${ready('Synced')} 1`);
  expect(text).toContain(`keyframe_secret_sync_stale_seconds{${labels}} 0\n`);
  expect(text).toMatch(new RegExp(`^keyframe_secret_sync_last_sync_timestamp_seconds\\{${labels}\\} \\d{10}$`, 'm'));
  await site.kube.json({ method: 'DELETE', path: site.secretPath(site.tokenSecretName) });
  const failing = await metricsWith(`${ready('TokenSecretNotFound')} 0`);
  expect(failing).not.toContain(ready('Synced'));
  await site.putToken(site.token.token);
  const healed = await metricsWith(`${ready('Synced')} 1`);
  expect(healed).not.toContain(values.PASSWORD);
  expect(healed).not.toContain(site.token.token);
});

test('a Secret that stays behind without its SecretSync is counted', async () => {
  const site = await stack.makeSite({ values });
  await site.waitUntilSynced(values);
  await metricsWith('keyframe_orphaned_secrets 0');
  await site.deleteSync();
  await metricsWith('keyframe_orphaned_secrets 1');
  await site.deleteSecret();
  await metricsWith('keyframe_orphaned_secrets 0');
});
