import { posix } from 'node:path';
import {
  type Class,
  type Directive,
  type ExportDefaultDeclarationKind,
  type MethodDefinition,
  type Program,
  type PropertyDefinition,
  type Statement,
  type TSSignature,
  type TSType,
  parseSync,
} from 'oxc-parser';

/** The class of all handles, which only the entry points construct. */
const handleClass = { path: 'src/services/access/handle.ts', name: 'Handle' };

/** A class, a type or an interface, and the file that declares it. */
type Declared = { readonly path: string } & (
  { readonly class: Class } | { readonly alias: TSType } | { readonly members: readonly (TSType | undefined)[] }
);

/** What a type proves about its value. */
interface Proof {
  /** It is a handle, or consists of handles alone. */
  readonly isHandle: boolean;
  /** The type names the action that the handle is for. */
  readonly namesAction: boolean;
}

const noProof: Proof = { isHandle: false, namesAction: false };

/**
 * The public methods of all classes that can be called without a handle for a stated action, as `Class.method`, in
 * order. A getter counts as a method, and so does a property that is a function. Handles themselves do not count. `sources`
 * are the files of src/services by their paths.
 */
export function methodsWithoutHandle(sources: ReadonlyMap<string, string>): readonly string[] {
  const files = new SourceFiles(sources);
  return [...sources.keys()].flatMap((path) => files.unprovenMethods(path)).sort();
}

/** What a file imports and declares, by name. */
interface SourceFile {
  readonly imports: ReadonlyMap<string, { readonly name: string; readonly path: string }>;
  readonly declarations: ReadonlyMap<string, Declared>;
}

class SourceFiles {
  readonly #files: ReadonlyMap<string, SourceFile>;

  constructor(sources: ReadonlyMap<string, string>) {
    this.#files = new Map([...sources].map(([path, source]) => [path, sourceFile(path, parse(path, source))]));
  }

  unprovenMethods(path: string): readonly string[] {
    return [...(this.#files.get(path)?.declarations ?? [])].flatMap(([name, declared]) => {
      if (!('class' in declared) || this.#isHandleClass(declared.class, path)) return [];
      const methods = declared.class.body.body.map(publicMethod).filter((method) => method !== undefined);
      return methods
        .filter(({ parameters: [first] }) => first === undefined || !this.#isHandle(first, path))
        .map((method) => `${name}.${method.name}`);
    });
  }

  #isHandle(parameter: Parameter, path: string): boolean {
    // One with a default is an AssignmentPattern, and can be left out.
    if (parameter.type !== 'Identifier' && parameter.type !== 'ObjectPattern') return false;
    // `optional` is typed as false, and is true all the same.
    if ((parameter as { readonly optional?: boolean }).optional === true) return false;
    const { isHandle, namesAction } = this.#prove(parameter.typeAnnotation?.typeAnnotation, path);
    return isHandle && namesAction;
  }

  #prove(type: TSType | undefined, path: string): Proof {
    if (type?.type === 'TSUnionType') return all(type.types.map((one) => this.#prove(one, path)));
    if (type?.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return noProof;
    const { isHandle, namesAction } = this.#proveDeclared(this.#find(type.typeName.name, path));
    return { isHandle, namesAction: namesAction || (type.typeArguments?.params.some(isText) ?? false) };
  }

  #proveDeclared(declared: Declared | undefined): Proof {
    if (declared === undefined) return noProof;
    const { path } = declared;
    if ('class' in declared) return { isHandle: this.#isHandleClass(declared.class, path), namesAction: false };
    if ('alias' in declared) return this.#prove(declared.alias, path);
    return all(declared.members.map((member) => this.#prove(member, path)));
  }

  #isHandleClass({ id, superClass }: Class, path: string): boolean {
    if (path === handleClass.path && id?.name === handleClass.name) return true;
    if (superClass?.type !== 'Identifier') return false;
    const parent = this.#find(superClass.name, path);
    return parent !== undefined && 'class' in parent && this.#isHandleClass(parent.class, parent.path);
  }

  /** What a name means in a file: what it declares, or imports from another one. */
  #find(name: string, path: string): Declared | undefined {
    const file = this.#files.get(path);
    const imported = file?.imports.get(name);
    return imported === undefined ? file?.declarations.get(name) : this.#find(imported.name, imported.path);
  }
}

type Declaring = Directive | Statement | ExportDefaultDeclarationKind | null;

function sourceFile(path: string, { body }: Program): SourceFile {
  const imports = body.flatMap((statement) => {
    if (statement.type !== 'ImportDeclaration') return [];
    const target = posix.join(posix.dirname(path), statement.source.value);
    return statement.specifiers.flatMap((specifier) =>
      specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier'
        ? [[specifier.local.name, { name: specifier.imported.name, path: target }] as const]
        : [],
    );
  });
  const statements = body.map((statement) =>
    statement.type === 'ExportNamedDeclaration' || statement.type === 'ExportDefaultDeclaration'
      ? statement.declaration
      : statement,
  );
  const declarations = statements.flatMap((statement) => declaredBy(statement, path));
  return { imports: new Map(imports), declarations: new Map(declarations) };
}

function declaredBy(statement: Declaring, path: string): readonly (readonly [string, Declared])[] {
  switch (statement?.type) {
    case 'ClassDeclaration':
      return statement.id === null ? [] : [[statement.id.name, { path, class: statement }]];
    case 'TSTypeAliasDeclaration':
      return [[statement.id.name, { path, alias: statement.typeAnnotation }]];
    case 'TSInterfaceDeclaration':
      return [[statement.id.name, { path, members: statement.body.body.map(memberType) }]];
    default:
      return [];
  }
}

function memberType(member: TSSignature): TSType | undefined {
  if (member.type !== 'TSPropertySignature' || member.optional) return undefined;
  return member.typeAnnotation?.typeAnnotation;
}

type Member = Class['body']['body'][number];
type Parameter = MethodDefinition['value']['params'][number];

/** A member that callers of the class can call or get; undefined for any other member. */
function publicMethod(
  member: Member,
): { readonly name: string; readonly parameters: readonly Parameter[] } | undefined {
  if (!('key' in member) || member.key.type === 'PrivateIdentifier') return undefined;
  if (member.accessibility === 'private' || member.accessibility === 'protected') return undefined;
  const parameters = 'kind' in member ? methodParameters(member) : functionParameters(member);
  const name = member.key.type === 'Identifier' ? member.key.name : 'computed';
  return parameters === undefined ? undefined : { name, parameters };
}

function methodParameters({ kind, value }: MethodDefinition): readonly Parameter[] | undefined {
  return kind === 'constructor' ? undefined : value.params;
}

/** Those of a property that is a function. */
function functionParameters({ value }: Pick<PropertyDefinition, 'value'>): readonly Parameter[] | undefined {
  const isFunction = value?.type === 'ArrowFunctionExpression' || value?.type === 'FunctionExpression';
  return isFunction ? value.params : undefined;
}

/** What a union or an object proves: what each of its parts does. */
function all(proofs: readonly Proof[]): Proof {
  const each = (named: keyof Proof): boolean => proofs.length > 0 && proofs.every((proof) => proof[named]);
  return { isHandle: each('isHandle'), namesAction: each('namesAction') };
}

/** A text as a type, or several to choose from. */
function isText(type: TSType): boolean {
  if (type.type === 'TSUnionType') return type.types.every(isText);
  return type.type === 'TSLiteralType' && type.literal.type === 'Literal' && typeof type.literal.value === 'string';
}

function parse(path: string, source: string): Program {
  const { program, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  return program;
}
