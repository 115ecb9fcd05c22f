import type { IncomingMessage } from 'node:http';
import { Connections } from './connections.ts';
import { lookup } from './lookup.ts';
import type { Proxy } from './proxy.ts';

export interface PlainGet {
  /** An http or https address. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: Proxy | undefined;
  /** For the whole answer. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/** What a server other than Keyframe answers. */
export interface PlainText {
  readonly status: number;
  readonly text: string;
}

/**
 * One GET of another server. It follows no redirection. Throws an error of the network, a RangeError for an answer that is
 * too long, and a DOMException TimeoutError.
 */
export async function getPlain({ address, headers, proxy, timeoutMs, maxBytes }: PlainGet): Promise<PlainText> {
  const signal = AbortSignal.timeout(timeoutMs);
  const route = await new Connections().routeTo(address, proxy, { timeoutMs, signal });
  const options = { ...route, method: 'GET', headers: { ...headers, ...route.headers }, lookup, signal };
  const { request } = address.startsWith('https:')
    ? process.getBuiltinModule('node:https')
    : process.getBuiltinModule('node:http');
  return await new Promise((resolve, reject) => {
    const sent = request(address, options as object, (response: IncomingMessage) => {
      readText(response, maxBytes).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    sent.once('error', (error) => reject((signal.aborted ? signal.reason : error) as Error));
    sent.end();
  });
}

async function readText(response: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new RangeError(`longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
