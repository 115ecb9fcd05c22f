import type { TaskName } from './config.ts';
import { loadMigrateConfig } from './config.ts';
import { defaultNamespace, loadKubeClient } from './load-kube-client.ts';
import { steadyNow, systemClock } from './lib/clock.ts';
import type { LogLevel, Logger } from './observability/logger.ts';
import { migrate } from './store/migrate.ts';
import {
  type InitConfig,
  type PreDeleteConfig,
  type SmokeTestConfig,
  loadInitConfig,
  loadPreDeleteConfig,
  loadSmokeTestConfig,
} from './task-config.ts';

/** A role that does one thing and ends, ready to run. */
export interface Task {
  readonly logLevel: LogLevel;
  run(logger: Logger): Promise<void>;
}

/** Reads the configuration of each; throws ConfigError. */
export const tasks: Readonly<Record<TaskName, () => Task>> = {
  migrate() {
    const { logLevel, databaseDirectUrl, databaseCaFile, databaseWaitMs } = loadMigrateConfig();
    return {
      logLevel,
      async run(logger) {
        const address = { url: databaseDirectUrl.reveal(), caFile: databaseCaFile };
        const applied = await migrate({ ...address, logger, waitMs: databaseWaitMs });
        logger.info({ applied: applied.length }, 'the database has the schema of this release');
      },
    };
  },
  init: () => taskOf(loadInitConfig(), runInit),
  'pre-delete': () => taskOf(loadPreDeleteConfig(), runPreDelete),
  'smoke-test': () => taskOf(loadSmokeTestConfig(), runSmokeTest),
};

function taskOf<C extends { readonly logLevel: LogLevel }>(
  config: C,
  run: (config: C, logger: Logger) => Promise<void>,
): Task {
  return { logLevel: config.logLevel, run: (logger) => run(config, logger) };
}

async function runInit(config: InitConfig, logger: Logger): Promise<void> {
  const [{ makeInitialSecrets }, { adminSecret, postgresSecret, rootKeySecret }, { SecretsClient }] = await Promise.all(
    [import('./installation/init.ts'), import('./installation/initial-secrets.ts'), import('./kube/client/secrets.ts')],
  );
  const client = await loadKubeClient(config.kubeconfigFile);
  const { rootKey, postgres, admin, namespace = client.namespace ?? defaultNamespace } = config;
  const wanted = [
    ...(rootKey === undefined ? [] : [rootKeySecret(rootKey)]),
    ...(postgres === undefined ? [] : [postgresSecret(postgres)]),
    ...(admin === undefined ? [] : [adminSecret(admin)]),
  ];
  await makeInitialSecrets({ secrets: new SecretsClient({ client }), namespace, logger }, wanted);
  await client.close();
}

async function runPreDelete(config: PreDeleteConfig, logger: Logger): Promise<void> {
  const [{ Uninstall, uninstallLeaseSeconds }, { controllerLease }] = await Promise.all([
    import('./roles/pre-delete.ts'),
    import('./controller/frame/leadership.ts'),
  ]);
  const kube = await loadKubeClient(config.kubeconfigFile);
  const { watchNamespaces, shutdownDelayMs, namespace = kube.namespace ?? defaultNamespace } = config;
  const lease = controllerLease(kube, namespace, uninstallLeaseSeconds(shutdownDelayMs));
  const freed = await new Uninstall({ kube, lease, watchNamespaces, clock: systemClock, steadyNow, logger }).run();
  logger.info({ freed }, 'no resource has a finalizer of ours any more');
  await kube.close();
}

async function runSmokeTest(config: SmokeTestConfig, logger: Logger): Promise<void> {
  const [{ SmokeTest }, { ApiClient }] = await Promise.all([
    import('./installation/smoke-test.ts'),
    import('./client/api-client.ts'),
  ]);
  const kube = await loadKubeClient(config.kubeconfigFile);
  const { url, token, namespace = kube.namespace ?? defaultNamespace } = config;
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  process.once('SIGINT', () => stop.abort());
  const api = new ApiClient({ url, token: token.reveal() });
  await new SmokeTest({ api, kube, namespace, logger, signal: stop.signal }).run();
  logger.info('a secret reaches Kubernetes, and what the test made is removed');
  await kube.close();
}
