import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { IdempotencyRequest } from '../../services/kernel/mutate-once.ts';

/** The header by which a caller has a change made once however often it sends it (docs/interface.md section 4). */
export const idempotencyHeader = 'idempotency-key';

/** All that a request asks for. */
export interface IdempotentRequest {
  readonly method: string;
  /** The route's template; its braces are filled by `params`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** As its schema parsed it: what is left out and what is given as its default are the same. */
  readonly body: unknown;
}

/** Throws DomainError malformed_request for anything but 1 to 255 visible ASCII characters. */
export function checkIdempotencyKey(key: string): void {
  if (/^[!-~]{1,255}$/.test(key)) return;
  throw new DomainError('malformed_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters, given once');
}

/** What the services need to know one request under a key from another. */
export function idempotencyRequest(key: string, { method, path, params, body }: IdempotentRequest): IdempotencyRequest {
  const text = JSON.stringify([method, path, inOrder(params), inOrder(body)]);
  return { key, requestHash: createHash('sha256').update(text).digest() };
}

/** The error of a request with the header where it does nothing. */
export function refusedIdempotencyKey(): DomainError {
  return new DomainError(
    'malformed_request',
    'Idempotency-Key works where snapshots and service tokens are created, snapshots restored and secrets rolled back, and nowhere else; leave it out',
  );
}

/** The answer to a repetition: nothing was made now, so it is 200 and not 201. */
export function replayed<Body extends object>(
  body: Body,
): { readonly status: 200; readonly body: Body; readonly headers: Readonly<Record<string, string>> } {
  return { status: 200, body, headers: { 'Idempotent-Replayed': 'true' } };
}

/** A copy whose objects have their names in one order, so that equal values give equal JSON. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, inOrder(inner)]));
}
