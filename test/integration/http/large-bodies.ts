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

/** Bodies of almost as many bytes as a request may have, which are the same to every schema. */
export function* schemalessBodies(maxBytes: number): Generator<LargeBody> {
  const room = roomOf(maxBytes);
  yield ['names that look like numbers', `{${filled(room, (index) => `"${index * 131_072}":1`)}}`];
  yield ['one long name', `{"${'\\u0061'.repeat(room / 6)}":1}`];
  yield ['a list of objects', `[${filled(room, () => '{"a":1}')}]`];
  yield ['brackets', '['.repeat(room)];
  yield ['quotes with backslashes', `{"x":"${'\\"'.repeat(room / 2)}"}`];
  yield ['backslashes', `{"x":"${'\\'.repeat(room)}"}`];
  yield ['escapes', `{"x":"${'\\u00e9'.repeat(room / 6)}"}`];
  yield ['spaces', `{${' '.repeat(room)}}`];
  yield ['one long number', `{"x":${'1'.repeat(room)}}`];
}

// For the names around what is large.
function roomOf(maxBytes: number): number {
  return maxBytes - 200;
}

export interface LargeBodiesOptions {
  /**
   * Whether every body is made of every schema. If not, each schema gets one body, and each field only the most expensive
   * bodies, once for all schemas that have it.
   */
  readonly isFull: boolean;
}

/** Makes bodies of almost as many bytes as a request may have, by the schemas of the requests. */
export class LargeBodies {
  readonly #isFull: boolean;
  /** The fields that have had their bodies of some size, as JSON. */
  readonly #seen = new Set<string>();
  // Built once for each size: it takes longer than sending it.
  readonly #unknownNames = remembered((room) => filled(room, (index) => `"${index.toString(36)}a":1`));
  readonly #numbers = remembered((room) => filled(room, () => '1'));

  constructor({ isFull }: LargeBodiesOptions) {
    this.#isFull = isFull;
  }

  /** Bodies of one schema: each field as long as it can be and with as many entries as there is room for. */
  *of(schema: BodySchema, maxBytes: number): Generator<LargeBody> {
    const room = roomOf(maxBytes);
    yield ['unknown names', `{${this.#unknownNames(room)}}`];
    if (this.#isFull) yield ['a list of numbers', `[${this.#numbers(room)}]`];
    for (const [path, field] of fieldsOf(schema)) {
      const known = JSON.stringify([room, field]);
      if (!this.#isFull && this.#seen.has(known)) continue;
      this.#seen.add(known);
      yield* this.#ofField(path, field, room);
    }
  }

  *#ofField(path: readonly string[], field: BodySchema, room: number): Generator<LargeBody> {
    const name = path.join('.');
    const within = (value: string): string => path.toReversed().reduce((inner, step) => `{"${step}":${inner}}`, value);
    const { additionalProperties, maxProperties, items, maxItems } = field;
    const isContainer = typeof additionalProperties === 'object' || items !== undefined;
    if (this.#isFull) yield [`${name} of plain letters`, within(`"${'x'.repeat(room)}"`)];
    if (this.#isFull || !isContainer) yield [`${name} of pairs of surrogates`, within(`"${'🔑'.repeat(room / 4)}"`)];
    if (typeof additionalProperties === 'object') {
      yield [`${name} with many names`, within(`{${this.#unknownNames(room)}}`)];
      yield [
        `${name} with many wrong keys`,
        within(`{${filled(room, (index) => `"${index} ":{"a":1}`, maxProperties)}}`),
      ];
      yield [
        `${name} with many wrong values`,
        within(`{${filled(room, (index) => `"K${index}":{"a":1}`, maxProperties)}}`),
      ];
    }
    if (items !== undefined) {
      yield [`${name} with many numbers`, within(`[${this.#numbers(room)}]`)];
      yield [`${name} with many wrong entries`, within(`[${filled(room, (index) => `"${index} "`, maxItems)}]`)];
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

function remembered(make: (room: number) => string): (room: number) => string {
  const made = new Map<number, string>();
  return (room) => {
    const text = made.get(room) ?? make(room);
    made.set(room, text);
    return text;
  };
}

/** As many entries as there is room for, but at most `max`. */
function filled(room: number, entry: (index: number) => string, max = Infinity): string {
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
