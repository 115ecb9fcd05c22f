import type { IncomingMessage } from 'node:http';

/** The lines of a stream, as soon as each is whole. What follows the last line's end is left out. */
export async function* linesOf(stream: IncomingMessage): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
