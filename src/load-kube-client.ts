import type { KubeClient } from './kube/client.ts';
import { systemClock } from './lib/clock.ts';
import { StartError, exitCodes } from './start-error.ts';

/** Where neither the configuration nor the credentials name one: the namespace that the installation is documented with. */
export const defaultNamespace = 'keyframe-system';

/**
 * The Kubernetes client, with a kubeconfig's credentials or those of the pod's account. It is loaded only here, where it is
 * used: that takes longer than loading all the rest, and as much memory. Throws StartError.
 */
export async function loadKubeClient(kubeconfigFile: string | undefined): Promise<KubeClient> {
  const [client, connection] = await Promise.all([import('./kube/client.ts'), import('./kube/connection.ts')]);
  try {
    return client.KubeClient.load({ kubeconfigFile, clock: systemClock });
  } catch (error) {
    if (error instanceof connection.KubeConfigError)
      throw new StartError(exitCodes.configuration, error.message, error);
    throw error;
  }
}
