import { DomainError } from '../../domain/errors/domain-error.ts';

/** Headers that make a change depend on the present state (RFC 9110 section 13.1). */
const conditions = ['if-match', 'if-none-match', 'if-unmodified-since'] as const;

/**
 * Refuses a change with a conditional header. The server does not evaluate these headers, and a change must not be made
 * if its condition may be false: it would overwrite data that the caller has not seen (RFC 9110 section 13.1.1).
 *
 * @throws DomainError malformed_request
 */
export function refuseConditionalChange(method: string, header: (name: string) => string | undefined): void {
  if (method === 'GET' || conditions.every((name) => header(name) === undefined)) return;
  throw new DomainError(
    'malformed_request',
    'changes do not support If-Match, If-None-Match or If-Unmodified-Since; use expectedVersion, expectedRevision ' +
      'or planHash in the body, if the route has them',
  );
}
