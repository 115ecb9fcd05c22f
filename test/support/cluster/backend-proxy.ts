import type { PortAdapter } from '../api/adapters.ts';
import { HttpProxy } from '../faults/http-proxy.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import type { ControllerOptions, Stack } from './stack.ts';

/** What lies between a controller and what it works with: the server, or the database if it has the services itself. */
export type BackendProxy = { readonly server: HttpProxy } | { readonly database: PostgresProxy };

/** Starts the proxy for controllers with this adapter. */
export async function proxyTo(
  adapter: PortAdapter,
  stack: Stack,
  resources: AsyncDisposableStack,
): Promise<BackendProxy> {
  if (adapter === 'over HTTPS') {
    const server = await HttpProxy.before({ server: new URL(stack.api.url) });
    resources.defer(() => server.close());
    return { server };
  }
  const database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  return { database };
}

/** For a controller that goes through the proxy. */
export function throughProxy(proxy: BackendProxy): Pick<ControllerOptions, 'server' | 'databaseUrl'> {
  return 'server' in proxy ? { server: proxy.server } : { databaseUrl: proxy.database.url };
}
