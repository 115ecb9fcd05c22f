import { ExitError, exitCodes } from '../config/exit-error.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { systemClock } from '../lib/clock.ts';

/** The namespace of a process whose configuration and credentials name none: every page of docs/ installs into it. */
export const defaultNamespace = 'keyframe';

/**
 * The Kubernetes client, with the credentials of a kubeconfig or of the pod's account. Its modules are loaded at the first
 * call: that takes longer than loading everything else, and as much memory. Throws ExitError.
 */
export async function loadKubeClient(kubeconfigFile: string | undefined): Promise<KubeClient> {
  const [client, connection] = await Promise.all([
    import('../kube/client/client.ts'),
    import('../kube/client/connection.ts'),
  ]);
  try {
    return client.KubeClient.load({ kubeconfigFile, clock: systemClock });
  } catch (error) {
    if (error instanceof connection.KubeConfigError) throw new ExitError(exitCodes.configuration, error.message, error);
    throw error;
  }
}
