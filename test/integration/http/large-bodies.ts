import { limits } from '../../../src/domain/limits.ts';

/** What these need of a schema of the OpenAPI document. */
export interface BodySchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, BodySchema>>;
  readonly additionalProperties?: BodySchema | boolean;
  readonly maxProperties?: number;
  readonly items?: BodySchema;
  readonly maxItems?: number;
}

/** A body and what is large about it. */
export type LargeBody = readonly [name: string, text: string];

const room = limits.requestBytes - 200;

/** Bodies of as many bytes as a request may have, which are the same to every schema. */
export function* schemalessBodies(): Generator<LargeBody> {
  yield ['names that look like numbers', `{${filled((index) => `"${index * 131_072}":1`)}}`];
  yield ['one long name', `{"${'\\u0061'.repeat(room / 6)}":1}`];
  yield ['a list of objects', `[${filled(() => '{"a":1}')}]`];
  yield ['brackets', '['.repeat(room)];
  yield ['quotes with backslashes', `{"x":"${'\\"'.repeat(room / 2)}"}`];
  yield ['backslashes', `{"x":"${'\\'.repeat(room)}"}`];
  yield ['escapes', `{"x":"${'\\u00e9'.repeat(room / 6)}"}`];
  yield ['spaces', `{${' '.repeat(room)}}`];
  yield ['one long number', `{"x":${'1'.repeat(room)}}`];
}

// Built once: it takes longer than sending it.
const unknownNames = once(() => filled((index) => `"${index.toString(36)}a":1`));
const numbers = once(() => filled(() => '1'));

export interface LargeBodiesOptions {
  /**
   * Whether every body is made of every schema. If not, each schema gets one body, and each field only the most expensive
   * bodies, once for all schemas that have it.
   */
  readonly isFull: boolean;
}

/** Makes bodies of as many bytes as a request may have, by the schemas of the requests. */
export class LargeBodies {
  readonly #isFull: boolean;
  /** The fields that have had their bodies, as JSON. */
  readonly #seen = new Set<string>();

  constructor({ isFull }: LargeBodiesOptions) {
    this.#isFull = isFull;
  }

  /** Bodies of one schema: each field as long as it can be and with as many entries as there is room for. */
  *of(schema: BodySchema): Generator<LargeBody> {
    yield ['unknown names', `{${unknownNames()}}`];
    if (this.#isFull) yield ['a list of numbers', `[${numbers()}]`];
    for (const [path, field] of fieldsOf(schema)) {
      const known = JSON.stringify(field);
      if (!this.#isFull && this.#seen.has(known)) continue;
      this.#seen.add(known);
      yield* this.#ofField(path, field);
    }
  }

  *#ofField(path: readonly string[], field: BodySchema): Generator<LargeBody> {
    const name = path.join('.');
    const within = (value: string): string => path.toReversed().reduce((inner, step) => `{"${step}":${inner}}`, value);
    const { additionalProperties, maxProperties, items, maxItems } = field;
    const isContainer = typeof additionalProperties === 'object' || items !== undefined;
    if (this.#isFull) yield [`${name} of plain letters`, within(`"${'x'.repeat(room)}"`)];
    if (this.#isFull || !isContainer) yield [`${name} of pairs of surrogates`, within(`"${'🔑'.repeat(room / 4)}"`)];
    if (typeof additionalProperties === 'object') {
      yield [`${name} with many names`, within(`{${unknownNames()}}`)];
      yield [`${name} with many wrong keys`, within(`{${filled((index) => `"${index} ":{"a":1}`, maxProperties)}}`)];
      yield [`${name} with many wrong values`, within(`{${filled((index) => `"K${index}":{"a":1}`, maxProperties)}}`)];
    }
    if (items !== undefined) {
      yield [`${name} with many numbers`, within(`[${numbers()}]`)];
      yield [`${name} with many wrong entries`, within(`[${filled((index) => `"${index} "`, maxItems)}]`)];
    }
  }
}

/** The fields of a schema, those of its objects included. */
function* fieldsOf({ properties = {} }: BodySchema, above: readonly string[] = []): Generator<[string[], BodySchema]> {
  for (const [name, field] of Object.entries(properties)) {
    yield [[...above, name], field];
    yield* fieldsOf(field, [...above, name]);
  }
}

function once(make: () => string): () => string {
  let made: string | undefined;
  return () => (made ??= make());
}

/** As many entries as there is room for, but at most `max`. */
function filled(entry: (index: number) => string, max = Infinity): string {
  const entries: string[] = [];
  let bytes = 0;
  while (entries.length < max) {
    const text = entry(entries.length);
    bytes += text.length + 1;
    if (bytes > room) break;
    entries.push(text);
  }
  return entries.join(',');
}
