import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** SQL in a file of the store: the texts around its values. */
export interface WrittenSql {
  readonly path: string;
  readonly texts: readonly string[];
  /** Whether it is a `Statement`, which is an object with a name and a text. */
  readonly isConstant: boolean;
}

/** The files of src/store by their names, without those that Prisma generates. */
export function storeSources(): ReadonlyMap<string, string> {
  const folder = join(checkoutDirectory, 'src/store');
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** All templates of `sql` and of transactions, and all statements that are constants. */
export function writtenSql(sources: ReadonlyMap<string, string>): WrittenSql[] {
  return [...sources].flatMap(([path, source]) =>
    nodesOf(parseSync(path, source).program).flatMap((node) => {
      const isConstant = node.type === 'ObjectExpression';
      const texts = isConstant ? constantTexts(node) : templateTexts(node);
      return texts === undefined ? [] : [{ path, texts, isConstant }];
    }),
  );
}

/** A part of a syntax tree. */
export interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A part of a syntax tree with all that is in it. */
export function nodesOf(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesOf);
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(nodesOf);
  return 'type' in value && typeof value.type === 'string' ? [value as Node, ...inner] : inner;
}

function templateTexts(node: Node): readonly string[] | undefined {
  if (node.type !== 'TaggedTemplateExpression') return undefined;
  const { tag, quasi } = node as unknown as { tag: Named; quasi: Template };
  return ['sql', 'rows', 'row', 'run'].includes(tag.name ?? tag.property?.name ?? '') ? textsOf(quasi) : undefined;
}

function constantTexts({ properties }: Node): readonly string[] | undefined {
  const fields = properties as readonly { readonly key?: Named; readonly value?: Template }[];
  const valueOf = (name: string): Template | undefined => fields.find(({ key }) => key?.name === name)?.value;
  const text = valueOf('text');
  return text === undefined || valueOf('name') === undefined ? undefined : textsOf(text);
}

interface Named {
  readonly name?: string;
  readonly property?: { readonly name?: string };
}

interface Template {
  /** Of a template. */
  readonly quasis?: readonly { readonly value: { readonly cooked: string } }[];
  /** Of a text without values. */
  readonly value?: string;
}

function textsOf({ quasis, value }: Template): readonly string[] | undefined {
  return quasis?.map((quasi) => quasi.value.cooked) ?? (value === undefined ? undefined : [value]);
}
