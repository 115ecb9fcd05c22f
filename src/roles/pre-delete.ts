import { defaultNamespace, loadKubeClient } from '../compose/kube-client.ts';
import { type PreDeleteConfig, loadPreDeleteConfig } from '../config/cluster-config.ts';
import { steadyNow, systemClock } from '../lib/clock.ts';
import type { Role } from './role.ts';

export const preDelete: Role<PreDeleteConfig> = {
  name: 'pre-delete',
  summary: ["Removes Keyframe's finalizers from all resources, before the controller is deleted."],
  load: (_args, source) => loadPreDeleteConfig(source),
  async run(config, logger) {
    const [{ Uninstall, uninstallLeaseSeconds }, { controllerLease }] = await Promise.all([
      import('./pre-delete/uninstall.ts'),
      import('../controller/frame/leadership.ts'),
    ]);
    const kube = await loadKubeClient(config.kubeconfigFile);
    const { watchNamespaces, shutdownDelayMs, namespace = kube.namespace ?? defaultNamespace } = config;
    const lease = controllerLease(kube, namespace, uninstallLeaseSeconds(shutdownDelayMs));
    const freed = await new Uninstall({ kube, lease, watchNamespaces, clock: systemClock, steadyNow, logger }).run();
    logger.info({ freed }, "no resource has Keyframe's finalizer any more");
    await kube.close();
  },
};
