import type { ObjectMeta } from './objects.ts';

/** The program in the header User-Agent. The API server takes it as the field manager of each write that names none. */
export const ownManager = 'keyframe-server';

/** A field manager of a Secret, with the fields that it holds. */
export interface SecretManager {
  readonly name: string;
  /** Keys under `data`. */
  readonly keys: ReadonlySet<string>;
  /** Such as `immutable` and `type`. */
  readonly fields: ReadonlySet<string>;
}

/** The managers of a Secret besides this program. A client can choose any name, so an unusual one is replaced. */
export function otherManagers({ managedFields }: ObjectMeta): readonly SecretManager[] {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  return entries.flatMap((entry) => {
    const { manager } = (entry ?? {}) as Readonly<Record<string, unknown>>;
    if (manager === ownManager) return [];
    const name = typeof manager === 'string' && /^[A-Za-z0-9._:/@ -]{1,128}$/.test(manager) ? manager : unnamedManager;
    const tree = fieldOf(entry, 'fieldsV1');
    return [{ name, keys: namesBelow(fieldOf(tree, 'f:data')), fields: namesBelow(tree) }];
  });
}

const unnamedManager = 'a manager without a plain name';

function namesBelow(tree: object | undefined): ReadonlySet<string> {
  const fields = Object.keys(tree ?? {}).filter((field) => field.startsWith('f:'));
  return new Set(fields.map((field) => field.slice(2)));
}

/**
 * The keys under `data` that a field manager applied and still holds (server-side apply; `f:data` and `f:KEY` of
 * metadata.managedFields in FieldsV1 form). A key that another manager wrote later is not included.
 */
export function appliedDataKeys({ managedFields }: ObjectMeta, manager: string): string[] {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  return entries
    .filter((entry) => isApplied(entry, manager))
    .flatMap((entry) => [...namesBelow(fieldOf(fieldOf(entry, 'fieldsV1'), 'f:data'))]);
}

function isApplied(entry: unknown, manager: string): boolean {
  const { manager: name, operation, subresource = '' } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  return name === manager && operation === 'Apply' && subresource === '';
}

function fieldOf(value: unknown, name: string): object | undefined {
  const field = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof field === 'object' && field !== null ? field : undefined;
}
