import type { z } from 'zod';
import type { BodyLimits } from './body-limits.ts';

/**
 * The contract of the API, one file for each area: what each endpoint takes and returns. The routes of the server serve it,
 * and `client/call.ts` types the requests of the command and of the dashboard by it.
 */

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Endpoint {
  readonly method: Method;
  /** Such as `/projects/{org}/{project}`, below /api/v1. */
  readonly path: `/${string}`;
  /** Its unique name in generated clients, such as `listSecrets`. */
  readonly operation: string;
  /** A short imperative sentence. */
  readonly summary: string;
  readonly input: InputSchemas;
  readonly responses: ResponseSchemas;
}

/**
 * Schemas of the input of an endpoint, without its target. A part without a schema must be empty. Headers without a schema
 * are ignored, except that Idempotency-Key and, for changes, conditional headers are refused.
 */
export interface InputSchemas {
  /** Path parameters after the target, such as a key. */
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** `bodyLimits.usual` by default. */
  readonly bodyLimits?: BodyLimits;
  /** An object by lower-case header names. */
  readonly headers?: z.ZodObject;
  /** Whether the endpoint supports Idempotency-Key. If not, the header is refused. */
  readonly idempotencyKey?: true;
}

/** Schemas of the successful responses of an endpoint; null for a response without a body. */
export interface ResponseSchemas {
  readonly 200?: z.ZodType<object>;
  readonly 201?: z.ZodType<object>;
  /** Nothing is given yet: another user has to accept it. */
  readonly 202?: z.ZodType<object>;
  readonly 204?: null;
  /** The caller's If-None-Match still matches. */
  readonly 304?: null;
  /** The server-sent events, which the caller may request (Accept) instead of the body of 200. */
  readonly events?: z.ZodType<object>;
}

/** Declares an endpoint. Its type has the exact method, path and schemas. */
export function endpoint<const Declared extends Endpoint>(declared: Declared): Declared {
  return declared;
}
