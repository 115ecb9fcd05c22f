import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { ApiError } from '../../../../kube/client/api-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { tooLargeTogether } from './merge-refusals.ts';
import { isMerge, targetOf } from '../spec/resource.ts';
import { keysFieldOf, sourcesOf } from '../spec/source.ts';

/**
 * The API server's refusal of a target Secret, in our own words: its message may quote the data it refused.
 * Undefined for an error that is none.
 */
export function targetRefusal(error: unknown, sync: SecretSync): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const isTooLong = error.causes.some(({ reason, field }) => reason === 'FieldValueTooLong' && field === 'data');
  if (isMerge(sync) && isTooLong) return tooLargeTogether(sync, error);
  const advice = refusalAdvice(error, sync);
  if (advice === undefined) return undefined;
  const detail = `The API server refused Secret ${targetOf(sync).name} (${error.status} ${error.reason}). ${advice}`;
  return new DomainError('target_refused', detail, { cause: error });
}

function refusalAdvice({ status }: ApiError, sync: SecretSync): string | undefined {
  if (status === 403) {
    return "Check the namespace's ResourceQuota and admission policies, that the namespace is not being deleted, and the RBAC of the controller.";
  }
  if (status === 404) return 'The namespace does not exist any more.';
  if (status === 413) {
    return `It is larger than the API server takes: exclude keys in ${keysFieldOf(sourcesOf(sync))}.exclude.`;
  }
  if (status !== 400 && status !== 422) return undefined;
  return isMerge(sync)
    ? "Check what the Secret's type demands of its keys, and the namespace's admission policies."
    : "Check spec.target.labels and annotations, and the namespace's admission policies.";
}
