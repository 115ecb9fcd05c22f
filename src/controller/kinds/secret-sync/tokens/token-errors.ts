import type { ErrorCode } from '../../../../domain/errors/catalogue.ts';
import type { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SourceFault } from '../../../../domain/source-reads.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import { serviceTokenPending, serviceTokenUnready } from '../token-messages.ts';

/** Errors with a token that a ServiceToken provides. */

// The reason that the SecretSync reports, by the reason of the ServiceToken.
const codes: ReadonlyMap<string, ErrorCode> = new Map([
  ['AccessDenied', 'service_token_denied'],
  ['NotFound', 'service_token_place_not_found'],
  ['Revoked', 'service_token_revoked'],
]);

/** The error, or that of the ServiceToken that must provide the token if that says more. */
export function explained(error: DomainError, { metadata, status }: ServiceToken): DomainError {
  if (error.description.isTokenError !== true) return error;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined || ready.observedGeneration !== metadata.generation)
    return serviceTokenPending(metadata.name);
  if (ready.status === 'True') return error;
  return serviceTokenUnready(metadata.name, codes.get(ready.reason) ?? 'service_token_not_ready', ready);
}

/**
 * Whether an error with a token is about to end or to be explained: the token is in its Secret and not active yet, or the
 * ServiceToken still reports that it is ready.
 */
export function isUnsettled(
  { description }: DomainError,
  serviceToken: ServiceToken | undefined,
  fault?: SourceFault,
): boolean {
  return description.isTokenError === true && (fault === 'pending' || serviceToken !== undefined);
}
