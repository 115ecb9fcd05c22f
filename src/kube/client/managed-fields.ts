import type { ObjectMeta } from './objects.ts';

/**
 * The keys under `data` that a field manager applied and still holds (server-side apply; `f:data` and `f:KEY` of
 * metadata.managedFields in FieldsV1 form). A key that another manager wrote later is not included.
 */
export function appliedDataKeys({ managedFields }: ObjectMeta, manager: string): string[] {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  return entries
    .filter((entry) => isApplied(entry, manager))
    .flatMap((entry) => Object.keys(fieldOf(fieldOf(entry, 'fieldsV1'), 'f:data') ?? {}))
    .filter((field) => field.startsWith('f:'))
    .map((field) => field.slice(2));
}

function isApplied(entry: unknown, manager: string): boolean {
  const { manager: name, operation, subresource = '' } = (entry ?? {}) as Readonly<Record<string, unknown>>;
  return name === manager && operation === 'Apply' && subresource === '';
}

function fieldOf(value: unknown, name: string): object | undefined {
  const field = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof field === 'object' && field !== null ? field : undefined;
}
