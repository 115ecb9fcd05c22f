import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../domain/errors/catalogue.ts';
import type { BearerPrincipal } from '../domain/principal.ts';
import type { RefusalFault } from '../domain/credential-faults.ts';

/** Facts about one request, for its log line and its metrics. */
export interface RequestContext {
  /** UUID that the server makes: an id from the caller could repeat in the audit. */
  readonly id: string;
  /** Template of the matched route; `unmatched` if no route has the path. */
  route: string;
  principal?: BearerPrincipal;
  /** The name of the cluster whose controller sent it. */
  cluster?: string;
  /** Why authentication refused the request, such as `revoked`. */
  fault?: RefusalFault;
  /** Set if the response is an error, or returns one to a controller. */
  code?: ErrorCode;
  /** What was thrown. The log gets its kind and stack frames, but no message of another library. */
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
