import type { KubeClient } from './kube/client/client.ts';
import { systemClock } from './lib/clock.ts';
import { StartError, exitCodes } from './start-error.ts';

/** The namespace of a process whose configuration and credentials name none: the one that every page installs into. */
export const defaultNamespace = 'keyframe';

/**
 * The Kubernetes client, with a kubeconfig's credentials or those of the pod's account. It is loaded only here, where it is
 * used: that takes longer than loading all the rest, and as much memory. Throws StartError.
 */
export async function loadKubeClient(kubeconfigFile: string | undefined): Promise<KubeClient> {
  const [client, connection] = await Promise.all([
    import('./kube/client/client.ts'),
    import('./kube/client/connection.ts'),
  ]);
  try {
    return client.KubeClient.load({ kubeconfigFile, clock: systemClock });
  } catch (error) {
    if (error instanceof connection.KubeConfigError)
      throw new StartError(exitCodes.configuration, error.message, error);
    throw error;
  }
}
