import { defaultNamespace, loadKubeClient } from '../compose/kube-client.ts';
import { type SmokeTestConfig, loadSmokeTestConfig } from '../config/cluster-config.ts';
import type { Role } from './role.ts';

export const smokeTest: Role<SmokeTestConfig> = {
  name: 'smoke-test',
  summary: ['Writes a secret, waits until it arrives in a Kubernetes Secret, and deletes both.'],
  load: (_args, source) => loadSmokeTestConfig(source),
  async run(config, logger) {
    const [{ SmokeTest }, { ApiClient }] = await Promise.all([
      import('./smoke-test/smoke-test.ts'),
      import('../client/api-client.ts'),
    ]);
    const kube = await loadKubeClient(config.kubeconfigFile);
    const { url, token, namespace = kube.namespace ?? defaultNamespace } = config;
    const stop = new AbortController();
    process.once('SIGTERM', () => stop.abort());
    process.once('SIGINT', () => stop.abort());
    const api = new ApiClient({ url, token: token.reveal() });
    await new SmokeTest({ api, kube, namespace, logger, signal: stop.signal }).run();
    logger.info('a secret reaches Kubernetes, and the objects of the test are deleted');
    await kube.close();
  },
};
