import { DomainError } from '../../domain/errors/domain-error.ts';

/** The headers that ask for a change only where the thing is as the caller knows it (RFC 9110 section 13.1). */
const conditions = ['if-match', 'if-none-match', 'if-unmodified-since'] as const;

/**
 * Refuses a change that is asked for under a condition of HTTP. None of them is judged here, and a change that is made
 * in spite of its condition overwrites what its caller has not seen (RFC 9110 section 13.1.1: it must not be made).
 *
 * @throws DomainError malformed_request
 */
export function refuseConditionalChange(method: string, header: (name: string) => string | undefined): void {
  if (method === 'GET' || conditions.every((name) => header(name) === undefined)) return;
  throw new DomainError(
    'malformed_request',
    'changes take no If-Match, If-None-Match or If-Unmodified-Since; where a condition is possible, the body has ' +
      'expectedVersion, expectedRevision or planHash',
  );
}
