import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '../../../../kube/client/objects.ts';
import {
  composedAnnotation,
  originsAnnotation,
  renamedAnnotation,
  sourceAnnotation,
  sourcesAnnotation,
  recordAnnotations,
} from '../../../annotations.ts';
import type { TargetRecord, TargetSource } from '../model.ts';

/** The keys that a target must have, and their sources. */
interface TargetKeys {
  readonly chosen: readonly { readonly key: string; readonly name: string; readonly source: string | undefined }[];
  /** Names of the composed keys. */
  readonly composed: readonly string[];
}

/** The annotations that record data of these sources. Some keys may have another name in the Secret. */
export function targetRecord(sources: readonly TargetSource[], { chosen, composed }: TargetKeys): TargetRecord {
  const renamed = chosen.filter(({ key, name }) => key !== name).map(({ key, name }) => [name, key] as const);
  return {
    ...placesRecord(sources),
    ...originsRecord(sources, chosen),
    ...(renamed.length === 0 ? {} : { [renamedAnnotation]: jsonOf(renamed) }),
    ...(composed.length === 0 ? {} : { [composedAnnotation]: JSON.stringify(composed.toSorted()) }),
  };
}

/** A lower bound of the bytes that `targetRecord` has, without building it. Names are ASCII. */
export function minRecordBytes(
  sources: readonly Pick<TargetSource, 'name'>[],
  { chosen, composed }: TargetKeys,
): number {
  const sum = (texts: readonly string[]): number => texts.reduce((total, text) => total + text.length, 0);
  const ofSources = sources.map(({ name }) => ({
    name,
    keys: chosen.filter(({ source }) => source === name).map((key) => key.name),
  }));
  const listed = withoutLargest(ofSources.filter(({ name }) => name !== undefined));
  const renamed = chosen.flatMap(({ key, name }) => (key === name ? [] : [key, name]));
  return listed.reduce((total, { keys }) => total + sum(keys), 0) + sum(renamed) + sum(composed);
}

/** The sources whose keys are listed: all but the first of those that have the most. */
function withoutLargest<T extends { readonly keys: readonly string[] }>(sources: readonly T[]): readonly T[] {
  const maxCount = Math.max(...sources.map(({ keys }) => keys.length));
  const unlisted = sources.find(({ keys }) => keys.length === maxCount);
  return sources.filter((source) => source !== unlisted);
}

function placesRecord(sources: readonly TargetSource[]): TargetRecord {
  const named = sources.flatMap((source) =>
    source.name === undefined ? [] : [[source.name, placeText(source)] as const],
  );
  if (named.length > 0) return { [sourcesAnnotation]: jsonOf(named) };
  const [only] = sources;
  return only === undefined ? {} : { [sourceAnnotation]: placeText(only) };
}

function placeText({ path, environmentId, pin }: TargetSource): string {
  return `${path}@${environmentId}${pin === undefined ? '' : `#${pin}`}`;
}

function originsRecord(sources: readonly TargetSource[], chosen: TargetKeys['chosen']): TargetRecord {
  const given = sources.flatMap(({ name }) => {
    const keys = chosen.filter(({ source }) => source === name).map((key) => key.name);
    return name === undefined ? [] : [{ name, keys }];
  });
  const listed = withoutLargest(given).map(({ name, keys }) => [name, keys.toSorted()] as const);
  return listed.length === 0 ? {} : { [originsAnnotation]: jsonOf(listed) };
}

// Sorted, so that equal names have equal texts.
function jsonOf(entries: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

/** The record that a target carries. */
export function recordOf({ annotations = {} }: ObjectMeta): TargetRecord {
  const recorded = recordAnnotations.map((name) => [name, annotations[name]] as const);
  return Object.fromEntries(recorded.filter(([, text]) => text !== undefined));
}

/** Whether two records are equal. */
export function sameRecord(one: TargetRecord, other: TargetRecord): boolean {
  return isDeepStrictEqual({ ...one }, { ...other });
}

// Strict: a damaged pin must not count as one that the user has changed.
const sourceForm = /^([^@#]+)@([^@#]+)(?:#(revision\/[1-9][0-9]{0,18}|snapshot\/[a-z0-9][-a-z0-9.]{0,252}))?$/;

/** The sources of a record; undefined if it has none, or if it was damaged by hand. */
export function sourcesOfRecord(record: TargetRecord): readonly TargetSource[] | undefined {
  const places = Object.entries(jsonObject(record[sourcesAnnotation]) ?? {});
  const recorded = [[undefined, record[sourceAnnotation]] as const, ...places].flatMap(([name, text]) => {
    const [, path, environmentId, pin] = sourceForm.exec(typeof text === 'string' ? text : '') ?? [];
    return path === undefined || environmentId === undefined ? [] : [{ name, path, environmentId, pin }];
  });
  return recorded.length === 0 ? undefined : recorded;
}

/** The source in a record that a key of the Secret came from; undefined if unknown. */
export function originsOf(
  record: TargetRecord,
  sources: readonly TargetSource[],
): (key: string) => TargetSource | undefined {
  const listed = Object.entries(jsonObject(record[originsAnnotation]) ?? {});
  const names = new Map(listed.flatMap(([name, keys]) => stringsIn(keys).map((key) => [key, name] as const)));
  const unlisted = sources.filter(({ name }) => !listed.some(([other]) => other === name));
  // If only one source is not listed, the remaining keys are its keys.
  const rest = unlisted.length === 1 ? unlisted[0] : undefined;
  return (key) => {
    const name = names.get(key);
    return name === undefined ? rest : sources.find((source) => source.name === name);
  };
}

/** The renamed keys by their names in the Secret; none if the record was damaged. */
export function renamedOf(record: TargetRecord): ReadonlyMap<string, string> {
  const renamed = Object.entries(jsonObject(record[renamedAnnotation]) ?? {});
  return new Map(renamed.filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
}

/** The composed keys of a record; none if the record was damaged. */
export function composedOf(record: TargetRecord): ReadonlySet<string> {
  return new Set(stringsIn(jsonOrNothing(record[composedAnnotation])));
}

function stringsIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

function jsonObject(text: string | undefined): object | undefined {
  const value = jsonOrNothing(text);
  return typeof value === 'object' && value !== null ? value : undefined;
}

/** Annotations are untrusted input. */
function jsonOrNothing(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return undefined;
  }
}
