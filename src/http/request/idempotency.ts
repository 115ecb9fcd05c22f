import { createHash } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type { IdempotencyRequest } from '../../services/change/once.ts';

/** With this header, a change is made once even if the request is sent several times (docs/interface.md section 4). */
export const idempotencyHeader = 'idempotency-key';

/** The parts of a request that identify it. */
export interface IdempotentRequest {
  readonly method: string;
  /** Template of the route; `params` has the values of its braces. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  /** As the schema parsed it, so that an omitted field equals its default. */
  readonly body: unknown;
}

/** Throws DomainError malformed_request for anything but 1 to 255 visible ASCII characters. */
export function checkIdempotencyKey(key: string): void {
  if (/^[!-~]{1,255}$/.test(key)) return;
  throw new DomainError('malformed_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters, given once');
}

/** The key and a hash of the request, by which services recognize a repetition. */
export function idempotencyRequest(key: string, { method, path, params, body }: IdempotentRequest): IdempotencyRequest {
  const text = JSON.stringify([method, path, withSortedKeys(params), withSortedKeys(body)]);
  return { key, requestHash: createHash('sha256').update(text).digest() };
}

/** The error for a route that does not support the header. */
export function unsupportedIdempotencyKey(): DomainError {
  return new DomainError(
    'malformed_request',
    'Idempotency-Key is supported only to create snapshots and service tokens, to restore snapshots, to revert changes and to roll back secrets; remove the header',
  );
}

/** The response to a repetition. It is 200 and not 201, because nothing was created now. */
export function replayed<Body extends object>(
  body: Body,
): { readonly status: 200; readonly body: Body; readonly headers: Readonly<Record<string, string>> } {
  return { status: 200, body, headers: { 'Idempotent-Replayed': 'true' } };
}

/** A copy with sorted object keys, so that equal values give equal JSON. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, withSortedKeys(inner)]));
}
