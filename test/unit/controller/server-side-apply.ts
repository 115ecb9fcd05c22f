import type { ErrorCause } from '../../../src/kube/client/api-error.ts';
import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { AnyObject } from './fake-cluster.ts';
import { isSecret, refuse } from './object-rules.ts';

/** The fields of an object, by their names from the outermost one, with their values. */
type Leaves = Map<string, unknown>;

interface FieldTree {
  [field: string]: FieldTree;
}

interface Entry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly fieldsV1: FieldTree;
}

interface Owner extends Omit<Entry, 'fieldsV1'> {
  readonly fields: ReadonlySet<string>;
}

interface Write {
  readonly before: AnyObject | undefined;
  readonly next: AnyObject;
  readonly manager: string;
}

// No name has a line break.
const separator = '\n';

/** The object with the owners of its fields after a write that is no apply: who changes a field owns it alone. Of Secrets only. */
export function withManagers(path: string, { before, next, manager }: Write): AnyObject {
  if (!isSecret(path)) return next;
  const [present, wanted] = [before === undefined ? new Map<string, unknown>() : leavesOf(before), leavesOf(next)];
  const written = [...wanted.keys()].filter((field) => wanted.get(field) !== present.get(field));
  const lost = [...present.keys()].filter((field) => wanted.get(field) !== present.get(field));
  const kept = without(before === undefined ? [] : ownersOf(before), lost);
  return withOwners(next, [...kept, { manager, operation: 'Update', fields: new Set(written) }]);
}

/**
 * The Secret after a server-side apply. Fields that the manager applied before and leaves out now are gone, unless another one
 * owns them too. Refuses another value for a field of another manager, unless the apply is forced.
 */
export function applied(call: ApiCall, before: AnyObject): AnyObject {
  const { fieldManager: manager = '', force } = call.query ?? {};
  const [present, wanted] = [leavesOf(before), leavesOf(call.body as AnyObject)];
  const isOwn = (owner: Owner): boolean => owner.manager === manager && owner.operation === 'Apply';
  const owners = ownersOf(before);
  const others = owners.filter((owner) => !isOwn(owner));
  const contested = [...wanted.keys()].filter((field) => wanted.get(field) !== present.get(field));
  const causes = contested.flatMap((field) => causesOf(field, others));
  if (causes.length > 0 && force !== 'true') refuse(call, 409, 'Conflict', causes);
  const left = [...(owners.find(isOwn)?.fields ?? [])].filter((field) => !wanted.has(field));
  const dropped = left.filter((field) => !others.some(({ fields }) => fields.has(field)));
  const leaves = new Map([...present, ...wanted]);
  for (const field of dropped) leaves.delete(field);
  const own: Owner = { manager, operation: 'Apply', fields: new Set(wanted.keys()) };
  return withOwners(withLeaves(before, leaves), [...without(others, contested), own]);
}

function causesOf(field: string, others: readonly Owner[]): ErrorCause[] {
  const holders = others.filter(({ fields }) => fields.has(field));
  const name = `.${field.replaceAll(separator, '.')}`;
  return holders.map(({ manager }) => ({ reason: 'FieldManagerConflict', field: name, manager }));
}

function without(owners: readonly Owner[], lost: readonly string[]): Owner[] {
  const isKept = (field: string): boolean => !lost.includes(field);
  return owners.map((owner) => ({ ...owner, fields: new Set([...owner.fields].filter(isKept)) }));
}

function leavesOf({ metadata: { labels = {}, annotations = {} }, data, type, immutable }: AnyObject): Leaves {
  const maps: readonly (readonly [string, object])[] = [
    ['data', (data as object | null | undefined) ?? {}],
    [`metadata${separator}labels`, labels],
    [`metadata${separator}annotations`, annotations],
  ];
  const below = maps.flatMap(([name, map]) =>
    Object.entries(map).map(([key, value]) => [`${name}${separator}${key}`, value] as const),
  );
  const single = Object.entries({ type, immutable }).filter(([, value]) => value !== undefined);
  return new Map<string, unknown>([...below, ...single]);
}

function withLeaves(object: AnyObject, leaves: Leaves): AnyObject {
  const below = (name: string): Record<string, string> => {
    const found = [...leaves].filter(([field]) => field.startsWith(`${name}${separator}`));
    return Object.fromEntries(found.map(([field, value]) => [field.slice(name.length + 1), value as string]));
  };
  const [labels, annotations] = [below(`metadata${separator}labels`), below(`metadata${separator}annotations`)];
  return { ...object, metadata: { ...object.metadata, labels, annotations }, data: below('data') };
}

function ownersOf({ metadata }: AnyObject): Owner[] {
  const entries = (metadata.managedFields ?? []) as readonly Entry[];
  return entries.map(({ fieldsV1, ...entry }) => ({ ...entry, fields: new Set(fieldsOf(fieldsV1)) }));
}

/** One entry for each manager and operation that owns something, in a lasting order. */
function withOwners(object: AnyObject, owners: readonly Owner[]): AnyObject {
  const entries = new Map<string, Owner>();
  for (const { fields, ...entry } of owners) {
    const id = `${entry.operation} ${entry.manager}`;
    entries.set(id, { ...entry, fields: new Set([...(entries.get(id)?.fields ?? []), ...fields]) });
  }
  const managedFields = [...entries]
    .filter(([, { fields }]) => fields.size > 0)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { fields, ...entry }]) => ({ ...entry, fieldsV1: treeOf(fields) }));
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

function treeOf(fields: ReadonlySet<string>): FieldTree {
  const tree: FieldTree = {};
  for (const field of [...fields].sort()) {
    let branch = tree;
    for (const name of field.split(separator)) branch = branch[`f:${name}`] ??= {};
  }
  return tree;
}

function fieldsOf(tree: FieldTree): string[] {
  return Object.entries(tree).flatMap(([field, below]) => {
    const name = field.slice('f:'.length);
    const names = fieldsOf(below);
    return names.length === 0 ? [name] : names.map((rest) => `${name}${separator}${rest}`);
  });
}
