/** @default Without the definitions, the controller reports what to do, and serves the cluster when they exist. */
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { createTestDatabase } from '../support/database/postgres.ts';
import { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const advice = 'apply the custom resource definitions with `kubectl apply -f crds/`';

afterAll(() => resources.disposeAsync());

test('a cluster without the definitions is reported once, with what to do, and served as soon as they exist', async () => {
  const cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const controller = await ServerProcess.spawn(resources, {
    role: 'controller',
    env: {
      DATABASE_URL: database.url,
      ROOT_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      KUBECONFIG_FILE: join(cluster.runFolder, 'controller.kubeconfig'),
    },
  });
  const timesLogged = (): number => controller.captured.output.toString().split(advice).length - 1;
  await waitFor('the controller to report what is missing', () => timesLogged() > 0);
  // A server that has just started first says that it does not hear of commits yet.
  await waitFor('readiness to report what is missing', async () => {
    const readiness = await fetch(`${controller.metricsUrl}/readyz`);
    expect(readiness.status).toBe(503);
    expect(await readiness.text()).toContain('kubectl apply -f crds/');
    return true;
  });
  const admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  await installCustomResources(admin, definitionsFolder);
  await controller.ready();
  expect(timesLogged()).toBe(1);
});
