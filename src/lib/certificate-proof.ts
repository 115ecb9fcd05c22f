import { duplexPair } from 'node:stream';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { CertificatePair } from './certificate.ts';

/**
 * Why a client that trusts only this CA would refuse a server with the pair by this name; undefined if it accepts it. It
 * finds out by a handshake in memory, so that a client judges by the same rules.
 */
export async function refusalOf(
  pair: CertificatePair,
  { authority, name }: { readonly authority: string; readonly name: string },
): Promise<string | undefined> {
  const [near, far] = duplexPair();
  const server = new TLSSocket(far, { isServer: true, secureContext: createSecureContext(pair) });
  // The client goes away.
  server.on('error', () => undefined);
  const client = connect({ socket: near, ca: authority, servername: name });
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  client.once('secureConnect', () => resolve(undefined));
  client.once('error', (error) => resolve(error.message));
  try {
    return await promise;
  } finally {
    client.destroy();
    server.destroy();
  }
}
