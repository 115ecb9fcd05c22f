import { ExitError, exitCodes } from '../../config/exit-error.ts';
import { isApiStatus } from '../../kube/client/api-error.ts';
import type { SecretContent, SecretObject, SecretsClient } from '../../kube/client/secrets.ts';
import type { Logger } from '../../observability/logger.ts';
import type { InitialSecret } from './initial-secrets.ts';

export interface InitDeps {
  readonly secrets: Pick<SecretsClient, 'find' | 'create'>;
  readonly namespace: string;
  readonly logger: Logger;
}

/**
 * Creates the Secrets that do not exist. An existing one stays unchanged. Two concurrent calls create each Secret once.
 * Throws ExitError if one lacks a key, and ApiError.
 */
export async function createInitialSecrets(deps: InitDeps, wanted: readonly InitialSecret[]): Promise<void> {
  for (const secret of wanted) {
    const isCreated = await ensure(deps, secret);
    deps.logger.info(
      { secret: secret.name, keys: secret.keys },
      isCreated ? 'the Secret was created' : 'the Secret exists',
    );
  }
}

/** Whether it was created here. */
async function ensure(deps: InitDeps, wanted: InitialSecret): Promise<boolean> {
  const target = { namespace: deps.namespace, name: wanted.name };
  if (isWhole(deps, wanted, await deps.secrets.find(target))) return false;
  try {
    await deps.secrets.create(deps.namespace, await contentOf(wanted));
    return true;
  } catch (error) {
    if (!isApiStatus(error, 409)) throw error;
  }
  // Another client created it after the first read.
  if (isWhole(deps, wanted, await deps.secrets.find(target))) return false;
  throw failure(
    `the Secret ${deps.namespace}/${wanted.name} is created and deleted again and again: find what deletes it, and run this again`,
  );
}

/** False if it does not exist. Throws ExitError if it lacks a key. */
function isWhole(
  { namespace }: InitDeps,
  { name, keys, advice }: InitialSecret,
  found: SecretObject | undefined,
): boolean {
  if (found === undefined) return false;
  const missing = keys.filter((key) => (found.data?.[key] ?? '') === '');
  if (missing.length === 0) return true;
  throw failure(
    `the Secret ${namespace}/${name} exists without the ${missing.length === 1 ? 'key' : 'keys'} ${missing.join(', ')}, and stays unchanged. ${advice}`,
  );
}

async function contentOf({ name, component, generate }: InitialSecret): Promise<SecretContent> {
  // Without app.kubernetes.io/instance: by that label Argo CD may take an object for one of its application, and prune it.
  const labels = {
    'app.kubernetes.io/name': 'keyframe',
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'keyframe',
    'app.kubernetes.io/managed-by': 'keyframe-server',
  };
  const data = Object.entries(await generate()).map(([key, value]) => [
    key,
    Buffer.from(value.reveal()).toString('base64'),
  ]);
  return { metadata: { name, labels }, type: 'Opaque', data: Object.fromEntries(data) as Record<string, string> };
}

function failure(message: string): ExitError {
  return new ExitError(exitCodes.failure, message);
}
