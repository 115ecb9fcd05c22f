import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '../../kube/objects.ts';

/**
 * Annotation of a target: the environment that its data came from, as `organization/project/name@uuid`; and behind that the
 * pin of then, if there was one, as `#revision/7` or `#snapshot/good`. All in one, so that none is lost without the others.
 */
export const sourceAnnotation = 'keyframe.dev/source';
/** Annotation of a target: the keys whose names the spec changed, as JSON `{name in the Secret: key of the environment}`. */
const renamedAnnotation = 'keyframe.dev/renamed';
/** Annotation of a target: the keys that `spec.template` added, as a JSON list. */
const composedAnnotation = 'keyframe.dev/composed';

/** All annotations of a record. */
export const recordAnnotations = [sourceAnnotation, renamedAnnotation, composedAnnotation] as const;

/** Where a target's data came from, in the annotations that tell it: what outlives every restart of the controller. */
export type TargetRecord = Readonly<Partial<Record<(typeof recordAnnotations)[number], string>>>;

export interface TargetSource {
  /** The slugs, as `organization/project/name`. */
  readonly path: string;
  readonly environmentId: string;
  /** See `pinText`; undefined where the Secret followed the environment. */
  readonly pin: string | undefined;
}

/** Which keys a target shall have, and from where. */
interface TargetKeys {
  readonly chosen: readonly { readonly key: string; readonly name: string }[];
  /** Names of those that come from no key of the environment alone. */
  readonly composed: readonly string[];
}

/** The annotations for data of an environment, some of whose keys have another name in the Secret. */
export function targetRecord(
  { path, environmentId, pin }: TargetSource,
  { chosen, composed }: TargetKeys,
): TargetRecord {
  const renamed = chosen.filter(({ key, name }) => key !== name).map(({ key, name }) => [name, key] as const);
  // Sorted: the same names are the same text.
  const sorted = renamed.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    [sourceAnnotation]: `${path}@${environmentId}${pin === undefined ? '' : `#${pin}`}`,
    ...(renamed.length === 0 ? {} : { [renamedAnnotation]: JSON.stringify(Object.fromEntries(sorted)) }),
    ...(composed.length === 0 ? {} : { [composedAnnotation]: JSON.stringify(composed.toSorted()) }),
  };
}

/** The record that a target carries. */
export function recordOf({ annotations = {} }: ObjectMeta): TargetRecord {
  const told = recordAnnotations.map((name) => [name, annotations[name]] as const);
  return Object.fromEntries(told.filter(([, text]) => text !== undefined));
}

/** Whether two records tell the same. */
export function sameRecord(one: TargetRecord, other: TargetRecord): boolean {
  return isDeepStrictEqual({ ...one }, { ...other });
}

// Not a character more: what is no pin must not be taken for one that was moved since.
const sourceForm = /^([^@#]+)@([^@#]+)(?:#(revision\/[1-9][0-9]{0,18}|snapshot\/[a-z0-9][-a-z0-9.]{0,252}))?$/;

/** The environment and pin of a record; undefined where it tells none, or was spoilt by hand. */
export function sourceOf(record: TargetRecord): TargetSource | undefined {
  const [, path, environmentId, pin] = sourceForm.exec(record[sourceAnnotation] ?? '') ?? [];
  return path === undefined || environmentId === undefined ? undefined : { path, environmentId, pin };
}

/** The keys of a record's environment by their names in the Secret, where the two differ; none where the record was spoilt. */
export function renamedOf(record: TargetRecord): ReadonlyMap<string, string> {
  try {
    const renamed: unknown = JSON.parse(record[renamedAnnotation] ?? '{}');
    if (typeof renamed !== 'object' || renamed === null) return new Map();
    return new Map(Object.entries(renamed).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  } catch {
    return new Map();
  }
}

/** The keys of a record that were composed; none where the record was spoilt. */
export function composedOf(record: TargetRecord): ReadonlySet<string> {
  try {
    const composed: unknown = JSON.parse(record[composedAnnotation] ?? '[]');
    return new Set(Array.isArray(composed) ? composed.filter((name) => typeof name === 'string') : []);
  } catch {
    return new Set();
  }
}
