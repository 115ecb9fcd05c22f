import type { Request, RequestHandler } from 'express';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';

/** Contains no address, because the peer may be a client. */
const warning =
  'requests carry X-Forwarded-For from a peer that KEYFRAME_TRUSTED_PROXIES does not list; if that peer is your proxy, ' +
  'all its clients share the limits of one address: add the address that the audit shows as sourceAddress';

// Interval of the warning in the log, and how long /readyz reports it after the last such request.
const keptMs = 3_600_000;

/**
 * Detects requests that a proxy seems to have forwarded although its address is not trusted. Every client can send such a
 * request, so it only causes a warning: one log line an hour, and a detail of /readyz on the metrics port.
 */
export class UntrustedProxyWatch {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #logger: Pick<Logger, 'warn'>;
  #seenAt: number | undefined;
  #loggedAt: number | undefined;

  constructor({ clock, logger }: { readonly clock: Pick<Clock, 'now'>; readonly logger: Pick<Logger, 'warn'> }) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Checks each request. `trust proxy` of the app must be set before. */
  get middleware(): RequestHandler {
    return (request, _response, next) => {
      if (request.headers['x-forwarded-for'] !== undefined && !isFromTrustedPeer(request)) this.#note();
      next();
    };
  }

  /** Returns the warning if such a request came within the last hour. */
  warning(): string | undefined {
    return this.#seenAt !== undefined && this.#clock.now() - this.#seenAt < keptMs ? warning : undefined;
  }

  #note(): void {
    const now = this.#clock.now();
    this.#seenAt = now;
    if (this.#loggedAt !== undefined && now - this.#loggedAt < keptMs) return;
    this.#loggedAt = now;
    this.#logger.warn(warning);
  }
}

function isFromTrustedPeer(request: Request): boolean {
  const isTrusted = request.app.get('trust proxy fn') as (address: string, distance: number) => boolean;
  return isTrusted(request.socket.remoteAddress ?? '', 0);
}
