import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { isObject } from '../../../src/lib/is-object.ts';

/** What calls of the port gave, in a form in which two runs can be compared. */

export interface Played {
  readonly notes: readonly unknown[];
  /** Of this scene alone. */
  readonly names: readonly string[];
}

/** One line for each note, in which names and ids of the scene stand for themselves. */
export function comparable({ notes, names }: Played): string[] {
  const ids = new Map<string, string>();
  const replaced = (text: string): string => {
    const own = names.reduce((rest, name, index) => rest.replaceAll(name, `<name ${index}>`), text);
    return own
      .replaceAll(/kf_svc_\w+/g, '<token>')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
        if (!ids.has(id)) ids.set(id, `<id ${ids.size}>`);
        return ids.get(id) ?? '';
      })
      .replaceAll(/"[0-9a-f]{64}"|"[\w-]{43}"/g, '"<hash>"')
      .replaceAll(/\b[0-9a-f]{8}\b/g, '<part>');
  };
  return notes.map((note) => replaced(JSON.stringify(note)));
}

/** Without members that the other one lacks: records of the services may have more than the types of the port. */
export function pruned(value: unknown, like: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(like)) return value.map((item, index) => pruned(item, like[index]));
  if (!isObject(value) || !isObject(like)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (name in like ? [[name, pruned(member, like[name])]] : [])),
  );
}

/** Data of the port as JSON. Times differ from run to run. */
export function plain(value: unknown): unknown {
  if (value instanceof Plaintext) return value.reveal();
  if (value instanceof Date) return '<time>';
  if (value instanceof Map) return { map: [...value].map(plain) };
  if (value instanceof Set) return { set: [...value].map(plain) };
  if (value instanceof DomainError) {
    const { code, detail, fields, retryAfterSeconds } = value;
    return { code, detail, fields, retryAfterSeconds };
  }
  if (value instanceof Error) return { bug: value.message };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, plain(member)]),
  );
}
