import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type Node, nodesOf } from '../../support/database/store-statements.ts';

/** The models of the schema by name, with their columns. */
export type Models = ReadonlyMap<string, ReadonlySet<string>>;

/** Without the columns that pg returns in another type than Prisma. */
export function readModelColumns(): Models {
  const schema = readFileSync(join(checkoutDirectory, 'prisma/schema.prisma'), 'utf8');
  const models = schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms);
  return new Map([...models].map(([, name = '', body = '']) => [name, columnsOf(body)]));
}

function columnsOf(model: string): Set<string> {
  return new Set(
    [...model.matchAll(/^ +(\w+) +(?:String|Int|Boolean|DateTime|Bytes)\b/gm)].map(([, name = '']) => name),
  );
}

/**
 * The types that statements and functions of the store return, and that write down the types of two or more columns of one
 * model: `file: columns of model`. A single column is as likely a computed one that has the name by chance.
 */
export function handwrittenRecords(sources: ReadonlyMap<string, string>, models: Models): string[] {
  const trees = [...sources].map(([file, source]) => ({ file, nodes: nodesOf(parseSync(file, source).program) }));
  const returned = trees.map(({ file, nodes }) => ({ file, types: nodes.flatMap(returnedTypes) }));
  const names = new Set(returned.flatMap(({ types }) => nodesOf(types).map(({ typeName }) => nameOf(typeName))));
  return trees.flatMap(({ file, nodes }, index) => {
    const named = nodes.filter(({ type, id }) => isDeclaration.test(type) && names.has(nameOf(id)));
    const parts = nodesOf([...named, ...(returned[index]?.types ?? [])]).filter(({ type }) => hasMembers.test(type));
    const found = parts.flatMap((part) => columnsIn(handwritten(part), models));
    return [...new Set(found)].map((columns) => `${file}: ${columns}`);
  });
}

const isDeclaration = /^TS(?:Interface|TypeAlias)Declaration$/;
const hasMembers = /^TS(?:InterfaceBody|TypeLiteral)$/;
const returns = /^(?:queryRows|row|rows|rowsUnprepared|Promise)$/;

/** The types in `queryRows<…>(…)`, `tx.row<…>` and `Promise<…>`. */
function returnedTypes({ callee, tag, typeName, typeArguments }: Node): Node[] {
  const user = (callee ?? tag ?? typeName ?? {}) as Partial<Node>;
  return returns.test(nameOf(user['property'] ?? user) ?? '') && typeArguments ? [typeArguments as Node] : [];
}

/** The properties of an interface or a type literal whose types are written down. */
function handwritten({ body, members }: Node): string[] {
  const properties = (body ?? members) as readonly { readonly key?: unknown; readonly typeAnnotation?: Annotation }[];
  return properties
    .filter(({ typeAnnotation }) => typeAnnotation !== undefined && isPlain(typeAnnotation.typeAnnotation))
    .map(({ key }) => nameOf(key) ?? '');
}

interface Annotation {
  readonly typeAnnotation: Node;
}

/** Whether a type is one that a column may have, or that or null. */
function isPlain({ type, typeName, types }: Node): boolean {
  if (type === 'TSUnionType') return (types as Node[]).every((one) => one.type === 'TSNullKeyword' || isPlain(one));
  return /^TS(?:String|Number|Boolean)Keyword$/.test(type) || /^(?:Date|Uint8Array)$/.test(nameOf(typeName) ?? '');
}

/** The columns of the model that has most of these names, if it has two or more. */
function columnsIn(names: readonly string[], models: Models): string[] {
  const found = [...models].map(([model, columns]) => ({ model, columns: names.filter((name) => columns.has(name)) }));
  const [first] = found.toSorted((a, b) => b.columns.length - a.columns.length);
  return first === undefined || first.columns.length < 2 ? [] : [`${first.columns.join(', ')} of ${first.model}`];
}

function nameOf(node: unknown): string | undefined {
  return (node as { readonly name?: string } | undefined)?.name;
}
