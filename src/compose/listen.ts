import type { RequestListener } from 'node:http';
import { ExitError, exitCodes } from '../config/exit-error.ts';
import type { ServerConfig } from '../config/server-config.ts';
import { HttpServer, ListenError, type ListenOptions } from '../http/server.ts';

/** Where a server listens, and the limits of its connections. */
export type Address = Omit<ListenOptions, 'hostVariable' | 'portVariable'>;

/** The address of a port of this configuration. */
export function addressOf(
  {
    host,
    trustedProxies,
    maxConnectionsPerAddress,
  }: Pick<ServerConfig, 'host' | 'trustedProxies' | 'maxConnectionsPerAddress'>,
  port: number,
): Address {
  return { host, port, trustedProxies, maxConnectionsPerPeer: maxConnectionsPerAddress };
}

interface Listening extends Omit<ListenOptions, 'hostVariable'> {
  /** How long the requests in progress may take when the server closes; default 10 s. */
  readonly graceMs?: number | undefined;
}

/** Listens. `open` closes the server. Throws ExitError. */
export async function listen(
  app: RequestListener,
  { graceMs = 10_000, ...options }: Listening,
  open: AsyncDisposableStack,
): Promise<HttpServer> {
  try {
    const server = await HttpServer.listen(app, { ...options, hostVariable: 'KEYFRAME_HOST' });
    open.defer(() => server.close(graceMs));
    return server;
  } catch (error) {
    if (error instanceof ListenError) throw new ExitError(exitCodes.unavailable, error.message, error);
    throw error;
  }
}
