import type { IncomingMessage } from 'node:http';
import type { HttpErrorCode } from '../domain/errors/catalogue.ts';
import type { BearerPrincipal } from '../domain/principal.ts';
import type { RefusalFault } from '../services/access/authentication.ts';

/** What the server knows of one request beside the request itself; for its log line and its metrics. */
export interface RequestContext {
  /** UUID of our own making: a caller's could repeat in the audit. */
  readonly id: string;
  /** Template of the matched route; `unmatched` for a path that is none. */
  route: string;
  principal?: BearerPrincipal;
  /** Why authentication refused the request, such as `revoked`. */
  fault?: RefusalFault;
  /** Set when the answer is an error. */
  code?: HttpErrorCode;
  /** What was thrown; the log takes its kind and stack frames, never a foreign message. */
  error?: unknown;
}

const contexts = new WeakMap<IncomingMessage, RequestContext>();

export function openContext(request: IncomingMessage, context: RequestContext): void {
  contexts.set(request, context);
}

/** The context that the first middleware opened. */
export function contextOf(request: IncomingMessage): RequestContext {
  const context = contexts.get(request);
  if (context === undefined) throw new Error('the request has no context: request-log.ts must be the first middleware');
  return context;
}
