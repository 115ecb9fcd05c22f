import type { Agent } from 'node:http';
import type { Socket } from 'node:net';

/** How one request reaches its server: options of node:http. */
export interface Route {
  readonly agent?: Agent;
  readonly createConnection?: () => Socket;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RouteLimits {
  /** How long the proxy may be silent. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}
