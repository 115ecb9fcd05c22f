import { sha256 } from '../lib/digest.ts';

/** The text of a statement with `$1`, `$2` …, and the name under which connections prepare it. */
interface Prepared {
  readonly text: string;
  readonly name: string;
}

/** SQL with its values: a statement, or a part of one. The functions of this file make it. */
export class Sql {
  /** What stands around the values. Equal texts of one template are one array. */
  readonly parts: readonly string[];
  readonly values: readonly unknown[];

  constructor(parts: readonly string[], values: readonly unknown[]) {
    this.parts = parts;
    this.values = values;
  }

  get text(): string {
    return preparedOf(this.parts).text;
  }

  /**
   * Undefined if a value is an array: with a name PostgreSQL may keep one plan for all values, and a plan for one row
   * takes minutes with ten thousand. It is made of the text alone: a pooler may share a server's connections among
   * processes without keeping their prepared statements apart, so a name must never mean another process's statement.
   */
  get name(): string | undefined {
    return this.values.some(Array.isArray) ? undefined : preparedOf(this.parts).name;
  }
}

/** A template of SQL. What stands in it is a value, never text, unless it is `Sql` itself. */
export function sql(template: TemplateStringsArray, ...given: readonly unknown[]): Sql {
  const inner = given.filter((value) => value instanceof Sql);
  if (inner.length === 0) return new Sql(template, given);
  const values = given.flatMap((value) => (value instanceof Sql ? value.values : [value]));
  const variants = variantsOf.get(template) ?? new Map<string, readonly string[]>();
  variantsOf.set(template, variants);
  const variant = JSON.stringify(inner.map(({ parts }) => parts));
  const parts = variants.get(variant) ?? partsOf(template, given);
  variants.set(variant, parts);
  return new Sql(parts, values);
}

/** Text that is a constant of the store. */
export function raw(text: string): Sql {
  return new Sql([text], []);
}

/** Nothing, where a part of a statement is left out. */
export const empty = raw('');

function partsOf(template: TemplateStringsArray, given: readonly unknown[]): readonly string[] {
  const parts = [template[0] ?? ''];
  given.forEach((value, index) => {
    const [first = '', ...rest] = value instanceof Sql ? value.parts : ['', ''];
    parts.push(`${parts.pop()}${first}`, ...rest);
    parts.push(`${parts.pop()}${template[index + 1]}`);
  });
  return parts;
}

// Each text is made once. The templates of the store are a fixed number of texts, because no value becomes part of one.
const variantsOf = new WeakMap<TemplateStringsArray, Map<string, readonly string[]>>();
const prepared = new WeakMap<readonly string[], Prepared>();

function preparedOf(parts: readonly string[]): Prepared {
  const known = prepared.get(parts);
  if (known !== undefined) return known;
  const text = parts.reduce((before, part, index) => `${before}$${index}${part}`);
  // PostgreSQL keeps 63 bytes of a name.
  const made = { text, name: `sql-${sha256(text).slice(0, 40)}` };
  prepared.set(parts, made);
  return made;
}
