import { TimeSlice } from '../../lib/time-slice.ts';

const chunkCharacters = 64 * 1024;

/**
 * Serializes an object as JSON in chunks and in time slices. Lists are serialized element by element, because one list may
 * hold all values of an environment. The concatenated chunks equal the output of `JSON.stringify`.
 */
export async function* jsonChunks(body: object): AsyncGenerator<string> {
  const slice = new TimeSlice();
  let chunk = '';
  for (const part of parts(body)) {
    chunk += part;
    if (slice.isOver) await slice.next();
    if (chunk.length < chunkCharacters) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

function* parts(body: object): Generator<string> {
  let separator = '{';
  for (const [name, value] of Object.entries(body) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${separator}${JSON.stringify(name)}:`;
    separator = ',';
    if (Array.isArray(value)) yield* elements(value);
    else yield JSON.stringify(value);
  }
  yield separator === '{' ? '{}' : '}';
}

function* elements(list: readonly unknown[]): Generator<string> {
  yield '[';
  for (const [index, element] of list.entries()) {
    const text = JSON.stringify(element);
    yield index === 0 ? text : `,${text}`;
  }
  yield ']';
}
