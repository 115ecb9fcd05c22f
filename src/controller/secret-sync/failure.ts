import { DomainError } from '../../domain/domain-error.ts';
import { ApiError } from '../../kube/api-error.ts';

/**
 * The API server's refusal of a target Secret, in our own words: its message may quote the data it refused.
 * Undefined for an error that is none.
 */
export function targetRefusal(error: unknown, name: string): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const advice = refusalAdvice(error);
  if (advice === undefined) return undefined;
  const detail = `The API server refused Secret ${name} (${error.status} ${error.reason}). ${advice}`;
  return new DomainError('target_refused', detail, { cause: error });
}

function refusalAdvice({ status }: ApiError): string | undefined {
  if (status === 403) {
    return "Check the namespace's ResourceQuota and admission policies, that the namespace is not being deleted, and the RBAC of the controller.";
  }
  if (status === 404) return 'The namespace does not exist any more.';
  if (status === 413) return 'It is larger than the API server takes: exclude keys in spec.keys.exclude.';
  if (status === 400 || status === 422)
    return "Check spec.target.labels and annotations, and the namespace's admission policies.";
  return undefined;
}
