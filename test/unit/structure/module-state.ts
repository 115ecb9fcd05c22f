import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * Variables at the top level of modules that change while the process runs. Test files of one worker share the modules of src,
 * so that what one file leaves in such a variable reaches the next one.
 */

export type Sources = ReadonlyMap<string, string>;

/** The changing variables of all sources, as `path: name`. */
export function changingVariables(sources: Sources): string[] {
  const modules = new Map([...sources].map(([path, source]) => [path, readModule(path, source)]));
  const found = new Set<string>();
  for (const [path, { declared, changing, imported, written }] of modules) {
    for (const name of changing) found.add(`${path}: ${name}`);
    for (const name of written) {
      const { from, as } = imported.get(name) ?? { from: path, as: name };
      if (declared.has(name) || modules.get(from)?.declared.has(as) === true) found.add(`${from}: ${as}`);
    }
  }
  return [...found].toSorted();
}

interface ModuleFacts {
  /** All variables at the top level. */
  readonly declared: ReadonlySet<string>;
  /** Those that are assigned, or hold an object of a class that may keep anything. */
  readonly changing: readonly string[];
  readonly imported: ReadonlyMap<string, { readonly from: string; readonly as: string }>;
  /** The names whose object is written somewhere in the module. */
  readonly written: ReadonlySet<string>;
}

interface SyntaxNode {
  readonly type: string;
  readonly [property: string]: unknown;
}

function readModule(path: string, source: string): ModuleFacts {
  const { program, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  const statements = program.body as unknown as SyntaxNode[];
  const declarations = statements.map((node) => (node['declaration'] as SyntaxNode | null | undefined) ?? node);
  const declared = new Set<string>();
  const changing: string[] = [];
  for (const declaration of declarations) {
    if (declaration.type === 'ClassDeclaration') changing.push(...changingFields(declaration));
    if (declaration.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration['declarations'] as { id: SyntaxNode; init: SyntaxNode | null }[]) {
      const name = nameOf(id) ?? '{…}';
      declared.add(name);
      if (declaration['kind'] !== 'const' || (init !== null && isStateful(unwrapped(init)))) changing.push(name);
    }
  }
  return { declared, changing, imported: importsOf(path, statements), written: writtenNames(program) };
}

/** Static fields that can be assigned. */
function changingFields(declaration: SyntaxNode): string[] {
  const { body } = declaration['body'] as { body: SyntaxNode[] };
  return body
    .filter((node) => node.type === 'PropertyDefinition' && node['static'] === true && node['readonly'] !== true)
    .map((node) => `${nameOf(declaration['id'])}.${nameOf(node['key'])}`);
}

// Containers are found where they are written. An object of these changes nothing that its users see.
const plain = /^(?:Map|Set|WeakMap|WeakSet|Array|RegExp|Error|\w+Error|URL|Date|TextEncoder|TextDecoder|Uint8Array)$/;

function isStateful(init: SyntaxNode): boolean {
  if (init.type !== 'NewExpression') return false;
  const name = nameOf(init['callee']);
  return name !== undefined && !plain.test(name);
}

function importsOf(path: string, statements: readonly SyntaxNode[]): Map<string, { from: string; as: string }> {
  const imported = new Map<string, { from: string; as: string }>();
  for (const node of statements) {
    if (node.type !== 'ImportDeclaration') continue;
    const from = posix.join(posix.dirname(path), (node['source'] as { value: string }).value);
    for (const specifier of node['specifiers'] as SyntaxNode[]) {
      imported.set(nameOf(specifier['local']) ?? '', { from, as: nameOf(specifier['imported']) ?? '' });
    }
  }
  return imported;
}

const ofCollections = ['add', 'clear', 'delete', 'set'];
const ofArrays = ['copyWithin', 'fill', 'pop', 'push', 'reverse', 'shift', 'sort', 'splice', 'unshift'];
const writers = new Set([...ofCollections, ...ofArrays]);

/** The variables whose object is assigned to, or on which a method that writes is called. */
function writtenNames(program: unknown): Set<string> {
  const names = new Set<string>();
  visit(program, (node) => {
    const name = nameOf(writtenObject(node));
    if (name !== undefined) names.add(name);
  });
  return names;
}

function writtenObject(node: SyntaxNode): SyntaxNode | undefined {
  switch (node.type) {
    case 'AssignmentExpression':
      return ownerOf(node['left']);
    case 'UpdateExpression':
      return ownerOf(node['argument']);
    case 'UnaryExpression':
      return node['operator'] === 'delete' ? ownerOf(node['argument']) : undefined;
    case 'CallExpression':
      return calledOn(node);
    default:
      return undefined;
  }
}

function calledOn(node: SyntaxNode): SyntaxNode | undefined {
  const callee = node['callee'] as SyntaxNode;
  if (callee.type !== 'MemberExpression') return undefined;
  const method = nameOf(callee['property']) ?? '';
  if (nameOf(callee['object']) === 'Object' && method === 'assign') return (node['arguments'] as SyntaxNode[])[0];
  return writers.has(method) ? ownerOf(callee) : undefined;
}

/** The variable of `a.b.c` and `a[b]`, unless it is `a` alone. */
function ownerOf(node: unknown): SyntaxNode | undefined {
  let owner = unwrapped(node as SyntaxNode);
  if (owner.type !== 'MemberExpression') return undefined;
  while (owner.type === 'MemberExpression') owner = unwrapped(owner['object'] as SyntaxNode);
  return owner;
}

/** An expression without what TypeScript and `?.` put around it. */
function unwrapped(node: SyntaxNode): SyntaxNode {
  const inner = /^(?:TS\w+Expression|ChainExpression|ParenthesizedExpression)$/.test(node.type);
  return inner ? unwrapped(node['expression'] as SyntaxNode) : node;
}

function nameOf(node: unknown): string | undefined {
  const { type, name } = (node ?? {}) as { type?: string; name?: string };
  return type === 'Identifier' || type === 'PrivateIdentifier' ? name : undefined;
}

function visit(value: unknown, look: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) {
    for (const entry of value) visit(entry, look);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value && typeof value.type === 'string') look(value as SyntaxNode);
  for (const entry of Object.values(value)) visit(entry, look);
}
