import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { type Socket, connect, isIP } from 'node:net';
import { addAbortSignal } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { proxyError, refusedByProxy } from './answer-error.ts';
import { ClientError } from './client-error.ts';
import { lookup } from './lookup.ts';
import { type Proxy, portOf, shownProxy } from './proxy.ts';
import type { Route, RouteLimits } from './route.ts';

/**
 * How a request for this address passes a proxy: through a tunnel to a server of https (CONNECT, RFC 9110 section 9.3.6),
 * and with its whole address to a server of http. Throws ClientError proxy_failed.
 */
export async function routeThrough(proxy: Proxy, address: string, limits: RouteLimits): Promise<Route> {
  const server = new URL(address);
  const socket = limited(connectTo(proxy.url), proxy, { ...limits, url: server.origin });
  try {
    await once(socket, proxy.url.protocol === 'https:' ? 'secureConnect' : 'connect');
    if (server.protocol === 'https:') await openTunnel(socket, proxy, server);
  } catch (error) {
    socket.destroy();
    throw proxyError(server.origin, proxy, error);
  }
  // From now on the server may be silent.
  socket.removeAllListeners('timeout');
  if (server.protocol === 'http:') {
    return { createConnection: () => socket, path: address, headers: authorizationFor(proxy) };
  }
  socket.setTimeout(0);
  const secure = connectTls({ socket, ...namesOf(server), ALPNProtocols: ['http/1.1'] });
  return { createConnection: () => withTimeout(secure, limits.timeoutMs) };
}

function connectTo(proxyUrl: URL): Socket {
  const isSecure = proxyUrl.protocol === 'https:';
  const options = { ...namesOf(proxyUrl), port: portOf(proxyUrl), lookup };
  return isSecure ? connectTls(options) : connect(options);
}

/** Ends the connection with an error if the proxy is silent for too long, or by the signal. */
function limited(
  socket: Socket,
  proxy: Proxy,
  { timeoutMs, signal, url }: RouteLimits & { readonly url: string },
): Socket {
  if (signal !== undefined) addAbortSignal(signal, socket);
  return withTimeout(socket, timeoutMs).once('timeout', () => {
    const seconds = timeoutMs / 1000;
    const message = `${shownProxy(proxy)} has not answered for ${seconds} second${seconds === 1 ? '' : 's'}`;
    socket.destroy(new ClientError(message, { fault: 'proxy_failed', url, networkCode: 'TIMEOUT' }));
  });
}

/** The request that uses the socket reports its errors. */
function withTimeout(socket: Socket, timeoutMs: number): Socket {
  return socket.setTimeout(timeoutMs).on('error', () => undefined);
}

/** Has the proxy connect to the server. Throws ClientError if it refuses. */
async function openTunnel(socket: Socket, proxy: Proxy, server: URL): Promise<void> {
  const authority = `${server.hostname}:${portOf(server)}`;
  const request = httpRequest({
    method: 'CONNECT',
    path: authority,
    headers: { host: authority, ...authorizationFor(proxy) },
    createConnection: () => socket,
  });
  request.end();
  const [{ statusCode: status = 0 }, , head] = (await once(request, 'connect')) as [IncomingMessage, Socket, Buffer];
  if (status < 200 || status >= 300) throw refusedByProxy(server.origin, proxy, status);
  if (head.length > 0) socket.unshift(head);
}

function authorizationFor({ url: { username, password } }: Proxy): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}

/** The host of an address, and the name in its certificate, which must not be an IP address. */
function namesOf({ hostname }: URL): { readonly host: string; readonly servername?: string } {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? { host, servername: host } : { host };
}
