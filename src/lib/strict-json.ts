import { visit } from 'jsonc-parser';

/** A JSON value. Unlike what JSON.parse returns, it has each member of an object, in the order of the text. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

export class JsonObject {
  readonly members: JsonMember[] = [];
}

export interface JsonMember {
  readonly name: string;
  /** Where its name stands in the text. */
  readonly index: number;
  value: JsonValue;
}

/** A text that is not one JSON value. The message has none of the text, which may be secret. */
export class JsonFault extends Error {
  /** Where in the text. */
  readonly index: number;

  constructor(index: number) {
    super('is not valid JSON');
    this.index = index;
  }
}

// The parser calls itself for each level, and secrets have one.
const defaultMaxDepth = 100;

/**
 * Reads one JSON value (RFC 8259): comments, and a comma after the last value, are faults.
 *
 * @throws JsonFault, also for what is nested more than `maxDepth` levels deep.
 */
export function readJson(text: string, { maxDepth = defaultMaxDepth }: { readonly maxDepth?: number } = {}): JsonValue {
  const root: JsonValue[] = [];
  const open: (JsonValue[] | JsonObject)[] = [root];
  const take = (value: JsonValue): void => {
    const place = open.at(-1) ?? root;
    if (Array.isArray(place)) return void place.push(value);
    const member = place.members.at(-1);
    if (member !== undefined) member.value = value;
  };
  const enter = (value: JsonValue[] | JsonObject, index: number): void => {
    if (open.length > maxDepth) throw new JsonFault(index);
    take(value);
    open.push(value);
  };
  const leave = (): void => void open.pop();
  const fail = (index: number): never => {
    throw new JsonFault(index);
  };
  visit(
    text,
    {
      onObjectBegin: (index) => enter(new JsonObject(), index),
      onObjectProperty: (name, index) => {
        const place = open.at(-1);
        if (place instanceof JsonObject) place.members.push({ name, index, value: null });
      },
      onObjectEnd: leave,
      onArrayBegin: (index) => enter([], index),
      onArrayEnd: leave,
      // The parser joins a string of pieces, one for each escape, which takes several times as long as JSON.parse.
      onLiteralValue: (value: JsonValue, index, length) =>
        take(typeof value === 'string' ? String(JSON.parse(text.slice(index, index + length))) : value),
      onError: (_code, index) => fail(index),
    },
    { disallowComments: true },
  );
  const [value] = root;
  return value === undefined ? fail(text.length) : value;
}
