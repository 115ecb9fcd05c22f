import { z } from 'zod';
import { uuidPattern } from '../../domain/names.ts';
import { Plaintext } from '../../domain/plaintext.ts';

/**
 * Codecs of what the port of controllers sends (docs/internals/cluster-protocol.md): `z.encode` makes JSON of data of the
 * domain, and `z.decode` the data of the JSON. A member that is undefined is absent in JSON.
 */

type Leaf = string | number | boolean | bigint | symbol | null | undefined | Date | Error | Plaintext;

/** A type with all its members, at each level, whether they are optional or can be undefined. */
type Whole<T> = T extends Leaf
  ? T
  : T extends ReadonlyMap<infer Key, infer Value>
    ? ReadonlyMap<Key, Whole<Value>>
    : T extends ReadonlySet<infer Item>
      ? ReadonlySet<Item>
      : T extends readonly (infer Item)[]
        ? readonly Whole<Item>[]
        : { readonly [Name in keyof T]-?: Whole<T[Name]> | undefined };

/**
 * A codec of a type of the domain. It is a type error if the codec lacks a member of the type: that would get lost on the
 * way.
 */
export function codecOf<T>(): <Schema extends z.ZodType>(
  schema: Schema & (Whole<z.output<Schema>> extends Whole<T> ? unknown : never),
) => z.ZodType<T> {
  return (schema) => schema as unknown as z.ZodType<T>;
}

/** An object of a request: unknown members are refused. They are left out when it is encoded. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<z.output<z.ZodObject<Shape>>> {
  const names = new Set(Object.keys(shape));
  const schema = z.codec(z.unknown(), z.object(shape), {
    decode: (input, { issues }) => {
      const given = typeof input === 'object' && input !== null ? Object.keys(input) : [];
      const keys = given.filter((name) => !names.has(name));
      if (keys.length > 0) issues.push({ code: 'unrecognized_keys', keys, input: {} });
      return input as never;
    },
    encode: (output) => output,
  });
  return schema;
}

/** A text of which the services say what is wrong with it. */
export function boundedText(maxLength = 1_000): z.ZodString {
  return z.string().max(maxLength);
}

/** An id of the database, or of Kubernetes. */
export const id = z.string().regex(uuidPattern, 'must be a UUID in lower case');

/** Numbers of revisions, versions and serials, and counts, as the database has them. */
export const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

export const date = z.codec(z.iso.datetime({ offset: true }), z.date(), {
  decode: (text) => new Date(text),
  encode: (time) => time.toISOString(),
});

/** A value or a token. */
export const plaintext = z.codec(z.string(), z.instanceof(Plaintext), {
  decode: (text) => new Plaintext(text),
  encode: (value) => value.reveal(),
});

export function setOf(maxItems: number): z.ZodType<ReadonlySet<string>> {
  return z.codec(z.array(z.string()).max(maxItems), z.set(z.string()), {
    decode: (items) => new Set(items),
    encode: (set) => [...set],
  });
}

export function mapOf<Value extends z.ZodType>(value: Value): z.ZodType<ReadonlyMap<string, z.output<Value>>> {
  const schema = z.codec(z.array(z.tuple([z.string(), value])), z.instanceof(Map), {
    decode: (entries) => new Map(entries as [string, unknown][]),
    encode: (map) => [...(map as Map<string, z.output<Value>>)] as never,
  });
  return schema as unknown as z.ZodType<ReadonlyMap<string, z.output<Value>>>;
}
