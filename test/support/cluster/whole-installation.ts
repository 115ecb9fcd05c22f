import { join } from 'node:path';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { CliRunner } from '../cli/cli.ts';
import { ServerProcess } from '../api/server-process.ts';
import { Stack } from './stack.ts';

/** Keyframe for a whole cluster, as a reader of the pages has it. */
export interface WholeInstallation {
  readonly stack: Stack;
  readonly controller: ServerProcess;
  readonly cli: CliRunner;
}

/**
 * Starts the API and a controller of all namespaces, for pages that name theirs, as the account of a whole installation, in
 * a cluster that `startOwnCluster` answered; all goes with `resources`.
 *
 * @param env further variables of the controller, without the prefix
 */
export async function startWholeInstallation(
  resources: AsyncDisposableStack,
  cluster: Pick<Cluster, 'kubeconfig' | 'runFolder'>,
  env: Readonly<Record<string, string>> = {},
): Promise<WholeInstallation> {
  const stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
  const controller = await ServerProcess.start(resources, {
    role: 'controller',
    env: {
      DATABASE_URL: stack.databaseUrl,
      ROOT_KEY: `test:${stack.rootKey}`,
      KUBECONFIG_FILE: join(cluster.runFolder, 'controller.kubeconfig'),
      NAMESPACE: 'keyframe',
      ...env,
    },
  });
  const cli = await CliRunner.create();
  resources.defer(() => cli.remove());
  return { stack, controller, cli };
}
