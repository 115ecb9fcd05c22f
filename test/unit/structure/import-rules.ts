import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/** One place where a source file names another module. */
export interface ImportSite {
  /** As written; undefined if it is computed and thus unknown. */
  readonly specifier: string | undefined;
  /** The types alone are used, and nothing of it is there at run time. */
  readonly typeOnly: boolean;
}

interface Room {
  /** The rooms it may import from, besides itself. */
  readonly imports: readonly string[];
  /** The rooms and packages of which it may use the types alone. */
  readonly types?: readonly string[];
  /** Runs outside Node too: it imports no module of Node's. */
  readonly portable?: boolean;
}

// The only files directly under src.
const topFiles: Readonly<Record<string, string>> = { 'main.ts': 'main', 'compose.ts': 'compose' };

const rooms: Readonly<Record<string, Room>> = {
  // Creates the parts of the server.
  compose: {
    imports: [
      'agent',
      'config',
      'controller',
      'crypto',
      'domain',
      'http',
      'identity',
      'kube',
      'lib',
      'observability',
      'services',
      'store',
    ],
  },
  // The smoke test is a client of the API, as the command is.
  roles: {
    imports: [
      'client',
      'compose',
      'config',
      'controller',
      'crypto',
      'domain',
      'kube',
      'lib',
      'observability',
      'services',
      'store',
    ],
  },
  config: { imports: ['crypto', 'domain', 'lib', 'observability'] },
  http: { imports: ['services', 'wire', 'domain', 'lib', 'observability'] },
  controller: {
    imports: ['kube', 'domain', 'lib', 'observability'],
    types: ['@kubernetes/client-node'],
  },
  // A controller's way to a server in another process.
  agent: { imports: ['client', 'wire', 'domain', 'lib', 'observability'], types: ['controller'] },
  services: { imports: ['store', 'crypto', 'identity', 'domain', 'lib', 'observability'] },
  // The port that the keyring declares is served here.
  store: { imports: ['domain', 'lib', 'observability'], types: ['crypto'] },
  crypto: { imports: ['domain', 'lib'] },
  identity: { imports: ['domain', 'lib'] },
  wire: { imports: ['domain', 'lib'], portable: true },
  domain: { imports: ['lib'], portable: true },
  kube: { imports: ['lib', 'observability'] },
  cli: { imports: ['client', 'wire', 'lib'] },
  client: { imports: ['wire', 'lib'] },
  // A client of the API without privileges, in the browser.
  dashboard: { imports: ['wire', 'client'], portable: true },
  observability: { imports: ['lib'] },
  lib: { imports: [] },
};

/** Files that not all of a room may import, and the files that may: what they export proves a right. */
const doors: readonly (readonly [target: string, importers: RegExp])[] = [
  ['src/services/access/handle.ts', /^src\/services\/(access\/(access|handles)|managed\/access)\.ts$/],
  ['src/services/access/handles.ts', /^src\/services\/access\/(access|keyless)\.ts$/],
  ['src/services/access/cluster-access.ts', /^src\/services\/(access\/keyless\.ts$|cluster\/)/],
  ['src/services/access/keyless.ts', /^src\/(compose\/services\.ts$|services\/cluster\/)/],
];

/** The files of the client that run in a browser too. */
const portableClient: ReadonlySet<string> = new Set([
  'src/client/call.ts',
  'src/client/endpoint-sets.ts',
  'src/client/pages.ts',
]);

/** Clients use its types alone: at run time they hold neither the contract nor zod. */
const contractFolder = 'src/wire/contract/';
const clients: ReadonlySet<string> = new Set(['cli', 'client', 'dashboard']);

/** Prisma reads plain records in one file of the store. Any other file uses the types of its models only. */
const prisma = { target: /^(@prisma\/|src\/store\/generated\/)/, user: /^src\/store\/(models\.ts$|generated\/)/ };

/** The packages that belong to one room, or to some. */
const owners: readonly (readonly [pattern: RegExp, ...rooms: string[]])[] = [
  [/^express(\/|$)/, 'http'],
  [/^(@prisma\/|pg(\/|$))/, 'store'],
  [/^@kubernetes\/client-node(\/|$)/, 'kube'],
  [/^undici(\/|$)/, 'kube', 'identity'],
  [/^openid-client(\/|$)/, 'identity'],
  [/^@simplewebauthn\/server(\/|$)/, 'identity'],
  [/^@simplewebauthn\/browser(\/|$)/, 'dashboard'],
  [/^croner(\/|$)/, 'lib'],
  [/^jsonc-parser(\/|$)/, 'lib'],
  [/^(@peculiar\/x509|reflect-metadata)(\/|$)/, 'crypto'],
  [/^(react(-dom|-router)?|@tanstack|@fontsource-variable)(\/|$)/, 'dashboard'],
];

/**
 * What is wrong with the imports of one file, a sentence each. `path` is relative to the project's folder, such as
 * `src/http/app.ts`; `dependencies` are the packages that an installation for production has.
 */
export function importFaults(path: string, source: string, dependencies: ReadonlySet<string>): string[] {
  const room = roomOf(path);
  return importsOf(path, source).flatMap((site) => {
    const fault = faultOf(path, room, site, dependencies);
    return fault === undefined ? [] : [`${path}: ${fault}`];
  });
}

/** Every import, re-export, dynamic import and imported type of a TypeScript source. Throws where it does not parse. */
export function importsOf(path: string, source: string): ImportSite[] {
  const { program, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} does not parse: ${error.message}`);
  const sites: ImportSite[] = [];
  visit(program, (node) => {
    const site = siteOf(node);
    if (site !== undefined) sites.push(site);
  });
  return sites;
}

/** A node of a parsed source. */
export interface SyntaxNode {
  readonly type: string;
  readonly [property: string]: unknown;
}

/** Calls `look` for each node within a value. */
export function visit(value: unknown, look: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) {
    for (const entry of value) visit(entry, look);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) look(value);
  for (const entry of Object.values(value)) visit(entry, look);
}

function isNode(value: object): value is SyntaxNode {
  return 'type' in value && typeof value.type === 'string';
}

function siteOf(node: SyntaxNode): ImportSite | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
      return { specifier: textOf(node['source']), typeOnly: node['importKind'] === 'type' };
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
      return node['source']
        ? { specifier: textOf(node['source']), typeOnly: node['exportKind'] === 'type' }
        : undefined;
    case 'ImportExpression':
      return { specifier: textOf(node['source']), typeOnly: false };
    case 'TSImportType':
      return { specifier: textOf(node['source']), typeOnly: true };
    case 'CallExpression':
      return requireSite(node);
    default:
      return undefined;
  }
}

function requireSite(node: SyntaxNode): ImportSite | undefined {
  const callee = node['callee'] as SyntaxNode;
  if (callee.type !== 'Identifier' || callee['name'] !== 'require') return undefined;
  return { specifier: textOf((node['arguments'] as unknown[])[0]), typeOnly: false };
}

function textOf(node: unknown): string | undefined {
  const value = (node as { value?: unknown } | undefined)?.value;
  return typeof value === 'string' ? value : undefined;
}

function faultOf(path: string, room: string, site: ImportSite, dependencies: ReadonlySet<string>): string | undefined {
  const { specifier, typeOnly } = site;
  if (specifier === undefined) return 'imports a module whose name is computed';
  if (specifier.startsWith('node:'))
    return rooms[room]?.portable ? `${room} imports ${specifier}, a module of Node's` : undefined;
  if (specifier.startsWith('.')) return fileFault(path, room, site, specifier);
  return (
    packageFault(room, specifier, typeOnly) ??
    prismaFault(path, specifier, typeOnly) ??
    undeclaredFault(specifier, dependencies)
  );
}

function fileFault(path: string, room: string, site: ImportSite, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  return (
    doorFault(path, specifier) ??
    clientFault(path, room, site) ??
    relativeFault(path, room, specifier, site.typeOnly) ??
    prismaFault(path, target, site.typeOnly)
  );
}

function prismaFault(path: string, target: string, typeOnly: boolean): string | undefined {
  if (typeOnly || !prisma.target.test(target) || prisma.user.test(path)) return undefined;
  return `imports ${target}, which only src/store/models.ts may`;
}

function doorFault(path: string, specifier: string): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  const importers = doors.find(([door]) => door === target)?.[1];
  return importers === undefined || importers.test(path) ? undefined : `imports ${target}, which few files may`;
}

function relativeFault(path: string, room: string, specifier: string, typeOnly: boolean): string | undefined {
  const target = posix.join(posix.dirname(path), specifier);
  if (!target.startsWith('src/')) return `production code imports ${target}, which is outside src`;
  const other = roomOf(target);
  if (room === 'main' || other === room || rooms[room]?.imports.includes(other)) return undefined;
  if (typeOnly && rooms[room]?.types?.includes(other)) return undefined;
  return `${room} imports ${other} (${target})`;
}

function clientFault(path: string, room: string, { specifier = '', typeOnly }: ImportSite): string | undefined {
  if (!clients.has(room)) return undefined;
  const target = posix.join(posix.dirname(path), specifier);
  if (target.startsWith(contractFolder) && !typeOnly) return `${room} loads the contract (${target})`;
  const isForeign = room === 'dashboard' && target.startsWith('src/client/') && !portableClient.has(target);
  return isForeign ? `dashboard imports ${target}` : undefined;
}

function packageFault(room: string, specifier: string, typeOnly: boolean): string | undefined {
  const [, ...allowed]: readonly (RegExp | string)[] = owners.find(([pattern]) => pattern.test(specifier)) ?? [];
  if (allowed.length === 0 || allowed.includes(room)) return undefined;
  if (typeOnly && rooms[room]?.types?.includes(specifier)) return undefined;
  return `${room} imports ${specifier}, which belongs to ${allowed.join(' and ')} alone`;
}

function undeclaredFault(specifier: string, dependencies: ReadonlySet<string>): string | undefined {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return dependencies.has(name) ? undefined : `production code imports ${name}, which is not among the dependencies`;
}

function roomOf(path: string): string {
  const [, first = '', second] = path.split('/');
  const room = second === undefined ? topFiles[first] : first;
  if (room === undefined || (room !== 'main' && !(room in rooms))) {
    throw new Error(`${path} is in no room known to the import rules.`);
  }
  return room;
}
