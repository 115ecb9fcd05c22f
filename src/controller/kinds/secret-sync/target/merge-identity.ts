import type { ObjectMeta } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { recordOf } from './target-record.ts';
import { mergePrefix, ownPrefix } from '../../../annotations.ts';
import { shorten } from '../../../names.ts';
import type { TargetRecord } from '../model.ts';

/** How a SecretSync is known on a Secret that belongs to something else: by its name, so that one made again goes on. */

// A longer name gets 63 characters, one more than any that stays whole: so it equals no other SecretSync's name.
const shortForm = { maxLength: 62, headLength: 30, separator: '-', digestLength: 32 };

/** A SecretSync's name, shortened to what the name of an annotation may have. */
function shortName({ metadata: { name } }: SecretSync): string {
  return shorten(name, shortForm);
}

/** The field manager under which a SecretSync applies its keys; at most 78 characters of the 128 that there may be. */
export function fieldManagerOf(sync: SecretSync): string {
  return `keyframe-merge-${shortName(sync)}`;
}

/** Annotation of a Secret that is merged into: where this SecretSync's keys came from. Each SecretSync has its own. */
export function recordAnnotationOf(sync: SecretSync): string {
  return `${mergePrefix}${shortName(sync)}`;
}

/** A record as the one annotation holds it: JSON, its names without the prefix. */
export function encodedRecord(record: TargetRecord): string {
  const entries = Object.entries(record).map(([name, value]) => [name.slice(ownPrefix.length), value] as const);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The record of a SecretSync's keys that a Secret carries; empty where there is none or it was spoilt by hand. */
export function mergedRecordOf({ annotations = {} }: ObjectMeta, sync: SecretSync): TargetRecord {
  try {
    const told: unknown = JSON.parse(annotations[recordAnnotationOf(sync)] ?? '{}');
    if (typeof told !== 'object' || told === null) return {};
    const texts = Object.entries(told).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    const own = Object.fromEntries(texts.map(([name, value]) => [`${ownPrefix}${name}`, value]));
    return recordOf({ name: '', uid: '', resourceVersion: '', annotations: own });
  } catch {
    return {};
  }
}
