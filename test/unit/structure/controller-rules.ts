import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';
import { importsOf } from './import-rules.ts';

/** What the parts of the controller may import from each other; other rooms are the matter of `importFaults`. */

// Every part may import these.
const bottom = ['names', 'generated', 'backend'] as const;
const kind = ['frame', 'kinds'] as const;
const syncModel = 'kinds/secret-sync/model';
const secretClaims = 'kinds/secret-claims';
const syncMessages = 'kinds/secret-sync/messages';

/** The parts that each part may import from besides itself and the bottom. A kind names each other kind that it knows. */
const parts: Readonly<Record<string, readonly string[]>> = {
  names: [],
  generated: [],
  // The port to Keyframe.
  backend: [],
  frame: [],
  // What the kinds that act in their own name share.
  kinds: ['frame', 'kinds/access-grant'],
  'kinds/access-grant': ['frame'],
  // The claims of SecretSyncs and ServiceTokens on Secrets.
  'kinds/secret-claims': ['frame'],
  'kinds/secret-environment': kind,
  'kinds/cluster-secret-sync': ['frame', 'kinds/access-grant'],
  'kinds/secret-snapshot': kind,
  'kinds/service-token': [...kind, 'kinds/access-grant', secretClaims],
  'kinds/snapshot-restore': [...kind, 'kinds/secret-snapshot'],
  'kinds/snapshot-schedule': [...kind, 'kinds/secret-snapshot'],
  'kinds/rollout': ['frame'],
  [syncModel]: ['frame', 'kinds/rollout', secretClaims],
  'kinds/secret-sync/spec': ['frame', syncModel],
  [syncMessages]: [syncModel, 'kinds/secret-sync/spec', secretClaims],
  'kinds/secret-sync/tokens': ['frame', syncModel, syncMessages, 'kinds/secret-sync/spec', 'kinds/service-token'],
  'kinds/secret-sync/data': ['frame', syncModel, syncMessages, 'kinds/secret-sync/spec'],
  'kinds/secret-sync/target': [
    'frame',
    syncModel,
    syncMessages,
    'kinds/secret-sync/spec',
    'kinds/secret-sync/data',
    'kinds/service-token',
    secretClaims,
  ],
  'kinds/secret-sync/read': [
    ...kind,
    syncModel,
    syncMessages,
    'kinds/secret-sync/spec',
    'kinds/secret-sync/tokens',
    'kinds/secret-sync/data',
    'kinds/service-token',
    'kinds/secret-snapshot',
  ],
  'kinds/secret-sync/rollback': [
    'frame',
    syncModel,
    syncMessages,
    'kinds/secret-sync/spec',
    'kinds/secret-sync/data',
    'kinds/secret-sync/target',
    'kinds/secret-sync/read',
    'kinds/rollout',
  ],
  'kinds/secret-sync/fleet': ['frame', syncModel, syncMessages, 'kinds/secret-sync/spec', 'kinds/rollout'],
  'kinds/secret-sync/judge': [
    'frame',
    syncModel,
    syncMessages,
    'kinds/secret-sync/spec',
    'kinds/secret-sync/data',
    'kinds/secret-sync/target',
    'kinds/secret-sync/rollback',
  ],
};

/** Files that are a part of their own, or belong to one that their folder does not name. */
const files: Readonly<Record<string, string>> = {
  'annotations.ts': 'names',
  'environment-ref.ts': 'names',
  'names.ts': 'names',
  'kinds/secret-sync/model.ts': syncModel,
  'kinds/secret-sync/messages.ts': syncMessages,
  'kinds/secret-sync/ownership-messages.ts': syncMessages,
  'kinds/secret-sync/source-messages.ts': syncMessages,
  'kinds/secret-sync/token-messages.ts': syncMessages,
};

/** The files that put the parts together, and may import all of them; of SecretSyncs, all that lie directly in its folder. */
const composing: readonly RegExp[] = [/^index\.ts$/, /^kinds\/secret-sync\/[^/]+\.ts$/];

/** What is wrong with the imports within the controller of one of its files, a sentence each. */
export function controllerFaults(path: string, source: string): string[] {
  const part = partOf(path);
  if (part === undefined) return [];
  const allowed: readonly string[] = [part, ...bottom, ...(parts[part] ?? [])];
  return importsOf(path, source).flatMap(({ specifier }) => {
    if (specifier?.startsWith('.') !== true) return [];
    const target = posix.join(posix.dirname(path), specifier);
    if (!target.startsWith('src/controller/')) return [];
    const other = partOf(target);
    if (other !== undefined && allowed.includes(other)) return [];
    return [`${path}: ${part} imports ${other ?? 'what puts the parts together'} (${target})`];
  });
}

/** What of a file of the controller's port exists at run time, a sentence each: another adapter could not stand for it. */
export function portFaults(path: string, source: string): string[] {
  if (!path.startsWith('src/controller/backend/')) return [];
  const isType = ({ type, declaration, importKind, exportKind }: Partial<Statement>): boolean =>
    (type === 'ImportDeclaration' && importKind === 'type') ||
    (type === 'ExportNamedDeclaration' && (exportKind === 'type' || typeForm.test(declaration?.type ?? ''))) ||
    typeForm.test(type ?? '');
  const statements = parseSync(path, source).program.body as unknown as readonly Statement[];
  return statements.filter((statement) => !isType(statement)).map(({ type }) => `${path}: ${type} is no type`);
}

interface Statement {
  readonly type: string;
  readonly declaration: { readonly type: string } | null;
  readonly importKind: string;
  readonly exportKind: string;
}

const typeForm = /^TS(?:Interface|TypeAlias)Declaration$/;

/** The part that a file of the controller belongs to; undefined for one that puts the parts together. */
function partOf(path: string): string | undefined {
  const inside = path.replace(/^src\/controller\//, '');
  const part = files[inside] ?? posix.dirname(inside);
  if (part in parts) return part;
  if (composing.some((form) => form.test(inside))) return undefined;
  throw new Error(`${path} is in no part of the controller known to the import rules.`);
}
