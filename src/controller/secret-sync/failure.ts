import { DomainError } from '../../domain/domain-error.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { Next } from '../work-queue.ts';

/**
 * What a reconcile that threw tells the world: a DomainError as it is; of the API server the status alone; of anything
 * else nothing, for its message could quote data.
 */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (!(error instanceof ApiError)) {
    return new DomainError('internal', 'The controller met an unexpected error; its log says where. It tries again.', {
      cause: error,
    });
  }
  const detail = error.status === 0 ? 'cannot be reached' : `answered ${error.status} ${error.reason}`;
  const advice = error.status === 401 || error.status === 403 ? ' Check the RBAC of the controller.' : '';
  return new DomainError('cluster_unavailable', `The Kubernetes API ${detail}; the controller tries again.${advice}`, {
    cause: error,
  });
}

/** When to come back after an error. */
export function nextAfter(error: DomainError): Next {
  if (error.description.effect !== 'retry') return { kind: 'done' };
  const minDelayMs = error.cause instanceof ApiError ? error.cause.retryAfterMs : undefined;
  return { kind: 'retry', ...(minDelayMs === undefined ? {} : { minDelayMs }) };
}

/**
 * The API server's refusal of a target Secret, in our own words: its message may quote the data it refused.
 * Undefined for an error that is none.
 */
export function targetRefusal(error: unknown, name: string, type: string): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const advice = refusalAdvice(error, type);
  if (advice === undefined) return undefined;
  const detail = `The API server refused Secret ${name} (${error.status} ${error.reason}). ${advice}`;
  return new DomainError('target_refused', detail, { cause: error });
}

function refusalAdvice({ status }: ApiError, type: string): string | undefined {
  if (status === 403) {
    return "Check the namespace's ResourceQuota and admission policies, that the namespace is not being deleted, and the RBAC of the controller.";
  }
  if (status === 404) return 'The namespace does not exist any more.';
  if (status === 400 || status === 413 || status === 422)
    return neededKeys[type] ?? "Check spec.target.labels and annotations, and the namespace's admission policies.";
  return undefined;
}

const neededKeys: Readonly<Record<string, string>> = {
  'kubernetes.io/basic-auth': 'Type kubernetes.io/basic-auth needs the key username or password.',
  'kubernetes.io/dockercfg': 'Type kubernetes.io/dockercfg needs the key .dockercfg with valid JSON.',
  'kubernetes.io/dockerconfigjson':
    'Type kubernetes.io/dockerconfigjson needs the key .dockerconfigjson with valid JSON.',
  'kubernetes.io/ssh-auth': 'Type kubernetes.io/ssh-auth needs the key ssh-privatekey.',
  'kubernetes.io/tls': 'Type kubernetes.io/tls needs the keys tls.crt and tls.key.',
};
