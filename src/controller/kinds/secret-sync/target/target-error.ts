import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import { ApiError } from '../../../../kube/client/api-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { targetRefused, tooLargeTogether } from '../messages.ts';
import { isMerge } from '../spec/resource.ts';

/** The error to report if the API server refused the target Secret; undefined for any other error. */
export function targetError(error: unknown, sync: SecretSync): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const isTooLong = error.causes.some(({ reason, field }) => reason === 'FieldValueTooLong' && field === 'data');
  if (isMerge(sync) && isTooLong) return tooLargeTogether(sync, error);
  return targetRefused(sync, error, isMerge(sync));
}
