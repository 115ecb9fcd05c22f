import { isApiStatus } from '../kube/client/api-error.ts';
import type { SecretContent, SecretObject, SecretsClient } from '../kube/client/secrets.ts';
import type { Logger } from '../observability/logger.ts';
import type { InitialSecret } from './initial-secrets.ts';
import { TaskError } from './task-error.ts';

export interface InitDeps {
  readonly secrets: Pick<SecretsClient, 'find' | 'create'>;
  readonly namespace: string;
  readonly logger: Logger;
}

/**
 * Makes the Secrets that are absent; those that are there stay as they are, whoever made them and when. Two of these at once
 * make each Secret once. Throws TaskError where one lacks its key, and ApiError.
 */
export async function makeInitialSecrets(deps: InitDeps, wanted: readonly InitialSecret[]): Promise<void> {
  for (const secret of wanted) {
    const made = await ensure(deps, secret);
    deps.logger.info({ secret: secret.name, keys: secret.keys }, made ? 'the Secret was made' : 'the Secret is there');
  }
}

/** Whether it was made here. */
async function ensure(deps: InitDeps, wanted: InitialSecret): Promise<boolean> {
  const target = { namespace: deps.namespace, name: wanted.name };
  if (isWhole(deps, wanted, await deps.secrets.find(target))) return false;
  try {
    await deps.secrets.create(deps.namespace, contentOf(wanted));
    return true;
  } catch (error) {
    if (!isApiStatus(error, 409)) throw error;
  }
  // Somebody else made it in this moment.
  if (isWhole(deps, wanted, await deps.secrets.find(target))) return false;
  throw new TaskError(`the Secret ${deps.namespace}/${wanted.name} comes and goes: see who deletes it, and try again`);
}

/** False where there is none. Throws TaskError where it lacks a key. */
function isWhole(
  { namespace }: InitDeps,
  { name, keys, advice }: InitialSecret,
  found: SecretObject | undefined,
): boolean {
  if (found === undefined) return false;
  const missing = keys.filter((key) => (found.data?.[key] ?? '') === '');
  if (missing.length === 0) return true;
  throw new TaskError(
    `the Secret ${namespace}/${name} is there, but without the ${missing.length === 1 ? 'key' : 'keys'} ${missing.join(', ')}, and is left as it is. ${advice}`,
  );
}

function contentOf({ name, component, make }: InitialSecret): SecretContent {
  // Without app.kubernetes.io/instance: by that label Argo CD may take an object for one of its application, and prune it.
  const labels = {
    'app.kubernetes.io/name': 'keyframe',
    'app.kubernetes.io/component': component,
    'app.kubernetes.io/part-of': 'keyframe',
    'app.kubernetes.io/managed-by': 'keyframe-server',
  };
  const data = Object.entries(make()).map(([key, value]) => [key, Buffer.from(value.reveal()).toString('base64')]);
  return { metadata: { name, labels }, type: 'Opaque', data: Object.fromEntries(data) as Record<string, string> };
}
