import type { Socket } from 'node:net';

type Name = 'kOnHeaders' | 'kOnHeadersComplete' | 'kOnBody' | 'kOnMessageComplete';

/** Node's parser of a connection. It calls these properties, if they are functions, for each part of a request. */
interface Parser {
  [callback: number]: unknown;
  readonly constructor: Readonly<Partial<Record<Name, number>>>;
}

/**
 * Parses without calls: one read of a socket may deliver 10,000 parts of a body or 2,000 requests, and Node cannot be stopped
 * within it. The returned function undoes this. It must be called before Node uses the parser for something else; the end of
 * the connection does so.
 */
export function ignore(socket: Socket, names: readonly Name[]): () => void {
  const { parser } = socket as { parser?: Parser | null };
  if (parser === null || parser === undefined) return () => {};
  const callbacks = names.map((name) => parser.constructor[name]).filter((callback) => callback !== undefined);
  const calls = callbacks.map((callback) => [callback, parser[callback]] as const);
  for (const callback of callbacks) parser[callback] = undefined;
  const restore = (): void => {
    socket.off('close', restore);
    for (const [callback, call] of calls) parser[callback] = call;
  };
  // Node gives the parser to another connection.
  socket.prependOnceListener('close', restore);
  return restore;
}
