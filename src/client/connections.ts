import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { Proxy } from './proxy.ts';
import type { Route, RouteLimits } from './route.ts';

// As the connections that Node.js itself shares.
const shared = { keepAlive: true, scheduling: 'lifo', timeout: 5_000 } as const;

/**
 * The connections that requests share. Those of Node.js itself would obey NODE_USE_ENV_PROXY, and send a token for this
 * machine to a proxy.
 */
export class Connections {
  #plain: HttpAgent | undefined;
  #secure: HttpsAgent | undefined;

  /**
   * How a request for this address reaches its server. A request through a proxy has a connection of its own. Throws
   * ClientError proxy_failed.
   */
  async routeTo(address: string, proxy: Proxy | undefined, limits: RouteLimits): Promise<Route> {
    if (proxy === undefined) return { agent: this.#agentFor(address) };
    // Loaded on use: most users have no proxy.
    const { routeThrough } = await import('./proxy-route.ts');
    return await routeThrough(proxy, address, limits);
  }

  #agentFor(address: string): HttpAgent {
    if (address.startsWith('https:')) {
      const { Agent } = process.getBuiltinModule('node:https');
      return (this.#secure ??= new Agent(shared));
    }
    const { Agent } = process.getBuiltinModule('node:http');
    return (this.#plain ??= new Agent(shared));
  }
}
