import { defaultNamespace, loadKubeClient } from '../compose/kube-client.ts';
import { type InitConfig, loadInitConfig } from '../config/cluster-config.ts';
import type { Role } from './role.ts';

export const init: Role<InitConfig> = {
  name: 'init',
  summary: ['Creates the Secrets of a new installation that do not exist yet.'],
  load: (_args, source) => loadInitConfig(source),
  async run(config, logger) {
    const [
      { createInitialSecrets },
      { adminSecret, clusterCaSecret, clusterTokenSecret, postgresRunSecret, postgresSecret, rootKeySecret },
      { SecretsClient },
    ] = await Promise.all([
      import('./init/create-secrets.ts'),
      import('./init/initial-secrets.ts'),
      import('../kube/client/secrets.ts'),
    ]);
    const client = await loadKubeClient(config.kubeconfigFile);
    const { rootKey, postgres, postgresRun, admin, clusterToken, clusterCa } = config;
    const { namespace = client.namespace ?? defaultNamespace } = config;
    const wanted = [
      ...(rootKey === undefined ? [] : [rootKeySecret(rootKey)]),
      ...(postgres === undefined ? [] : [postgresSecret(postgres)]),
      ...(postgresRun === undefined ? [] : [postgresRunSecret(postgresRun)]),
      ...(admin === undefined ? [] : [adminSecret(admin)]),
      ...(clusterToken === undefined ? [] : [clusterTokenSecret(clusterToken)]),
      ...(clusterCa === undefined ? [] : [clusterCaSecret(clusterCa)]),
    ];
    await createInitialSecrets({ secrets: new SecretsClient({ client }), namespace, logger }, wanted);
    await client.close();
  },
};
