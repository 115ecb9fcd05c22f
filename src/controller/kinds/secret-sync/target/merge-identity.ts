import type { ObjectMeta } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { recordOf } from './target-record.ts';
import { mergePrefix, ownPrefix } from '../../../annotations.ts';
import { shorten } from '../../../names.ts';
import { type TargetRecord, mergeManagerPrefix } from '../model.ts';

/** How a SecretSync is identified on an unmanaged Secret: by its name, so that a recreated one continues. */

// A longer name gets 63 characters, one more than any that stays whole, so it never equals another SecretSync's name.
const shortForm = { maxLength: 62, headLength: 30, separator: '-', digestLength: 32 };

/** A SecretSync, as far as its name identifies it. */
interface Named {
  readonly metadata: { readonly name: string };
}

/** A SecretSync's name, shortened to the maximum for the name of an annotation. */
function shortName({ metadata: { name } }: Named): string {
  return shorten(name, shortForm);
}

/** The field manager with which a SecretSync applies its keys: at most 78 characters of the 128 that are allowed. */
export function fieldManagerOf(sync: SecretSync): string {
  return `${mergeManagerPrefix}${shortName(sync)}`;
}

/** The annotation of a shared Secret with the record of a SecretSync's keys. Each SecretSync has a different one. */
export function recordAnnotationOf(sync: Named): string {
  return `${mergePrefix}${shortName(sync)}`;
}

/** A record in the form for this annotation: JSON, with names without the prefix. */
export function encodedRecord(record: TargetRecord): string {
  const entries = Object.entries(record).map(([name, value]) => [name.slice(ownPrefix.length), value] as const);
  return JSON.stringify(Object.fromEntries(entries));
}

/** The record of a SecretSync's keys on a Secret; empty if there is none or if it was damaged by hand. */
export function mergedRecordOf({ annotations = {} }: ObjectMeta, sync: SecretSync): TargetRecord {
  try {
    const recorded: unknown = JSON.parse(annotations[recordAnnotationOf(sync)] ?? '{}');
    if (typeof recorded !== 'object' || recorded === null) return {};
    const texts = Object.entries(recorded).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    const own = Object.fromEntries(texts.map(([name, value]) => [`${ownPrefix}${name}`, value]));
    return recordOf({ name: '', uid: '', resourceVersion: '', annotations: own });
  } catch {
    return {};
  }
}
