import { limits } from '../../src/domain/limits.ts';

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

/** Bodies of as many bytes: each field of a schema as long as it can be and with as many entries as there is room for. */
export function* largeBodies(schema: BodySchema): Generator<LargeBody> {
  yield ['unknown names', `{${filled((index) => `"${index.toString(36)}a":1`)}}`];
  yield ['a list of numbers', `[${filled(() => '1')}]`];
  for (const [path, field] of fieldsOf(schema)) yield* largeFields(path, field);
}

/** The fields of a schema, those of its objects included. */
function* fieldsOf({ properties = {} }: BodySchema, above: readonly string[] = []): Generator<[string[], BodySchema]> {
  for (const [name, field] of Object.entries(properties)) {
    yield [[...above, name], field];
    yield* fieldsOf(field, [...above, name]);
  }
}

function* largeFields(path: readonly string[], field: BodySchema): Generator<LargeBody> {
  const name = path.join('.');
  const within = (value: string): string => path.toReversed().reduce((inner, step) => `{"${step}":${inner}}`, value);
  yield [`${name} of plain letters`, within(`"${'x'.repeat(room)}"`)];
  yield [`${name} of pairs of surrogates`, within(`"${'🔑'.repeat(room / 4)}"`)];
  if (typeof field.additionalProperties === 'object') {
    const { maxProperties } = field;
    yield [`${name} with many names`, within(`{${filled((index) => `"${index.toString(36)}a":1`)}}`)];
    yield [`${name} with many wrong keys`, within(`{${filled((index) => `"${index} ":{"a":1}`, maxProperties)}}`)];
    yield [`${name} with many wrong values`, within(`{${filled((index) => `"K${index}":{"a":1}`, maxProperties)}}`)];
  }
  if (field.items !== undefined) {
    yield [`${name} with many numbers`, within(`[${filled(() => '1')}]`)];
    yield [`${name} with many wrong entries`, within(`[${filled((index) => `"${index} "`, field.maxItems)}]`)];
  }
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
