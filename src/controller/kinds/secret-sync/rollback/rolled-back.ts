import type { SecretSync } from '../../../generated/secret-sync.ts';
import { sourcesOfRecord } from '../target/target-record.ts';
import { dataMark } from '../../rollout/restart-mark.ts';
import { retryAnnotation, rolledBackAnnotation } from '../../../annotations.ts';
import { shortDigest } from '../../../names.ts';
import type { TargetRecord, TargetFacts, RolledBack, SourceRevision } from '../model.ts';
import { isObject } from '../../../../lib/is-object.ts';

/** The form in a record: JSON. */
export function formatRolledBack(rolledBack: RolledBack): string {
  return JSON.stringify(inOrder(rolledBack));
}

/** The rollback in a record; undefined if there is none, or if it was damaged by hand. */
export function rolledBackOf(record: TargetRecord): RolledBack | undefined {
  try {
    const recorded: unknown = JSON.parse(record[rolledBackAnnotation] ?? 'null');
    return isRolledBack(recorded) ? inOrder(recorded) : undefined;
  } catch {
    return undefined;
  }
}

/** Only the known fields, in a fixed order: equal values have equal texts. */
function inOrder({ data, sources, held, cause, retry }: RolledBack): RolledBack {
  return {
    data,
    sources: sources.map(revisionInOrder),
    held: { data: held.data, sources: held.sources.map(revisionInOrder) },
    ...(cause === undefined ? {} : { cause }),
    ...(retry === undefined ? {} : { retry }),
  };
}

function revisionInOrder({ name, revision, revisionId }: SourceRevision): SourceRevision {
  return { ...(name === undefined ? {} : { name }), revision, revisionId };
}

/**
 * The present rollback of a Secret, from its record. If the Secret is gone or its record was damaged, the last known rollback
 * counts, from the memory or the status (`otherwise`). A record with sources and no rollback means that the Secret has moved
 * on, unless it still holds the same data.
 */
export function presentRollback(target: TargetFacts, otherwise: RolledBack | undefined): RolledBack | undefined {
  if (target.state !== 'owned' && target.state !== 'shared') return otherwise;
  const recorded = rolledBackOf(target.record);
  if (recorded !== undefined || otherwise === undefined) return recorded;
  const isDamaged = sourcesOfRecord(target.record) === undefined;
  return isDamaged || dataMark(target.fingerprint) === otherwise.held.data ? otherwise : undefined;
}

/** A digest of the annotation that asks for a retry; undefined without it. */
export function retryOf({ metadata: { annotations = {} } }: SecretSync): string | undefined {
  const value = annotations[retryAnnotation];
  return value === undefined ? undefined : shortDigest(value);
}

// Annotations are untrusted input.
function isRolledBack(recorded: unknown): recorded is RolledBack {
  if (!isObject(recorded) || !isObject(recorded['held'])) return false;
  const { data, sources, held, cause, retry } = recorded;
  return (
    [data, held['data']].every(isMark) &&
    isRevisions(sources) &&
    isRevisions(held['sources']) &&
    (cause === undefined || fits(cause, /^[A-Za-z0-9 ,.:()-]{1,512}$/)) &&
    (retry === undefined || isMark(retry))
  );
}

function isRevisions(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.length <= 16 && value.every(isRevision);
}

function isRevision(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { name, revision, revisionId } = value;
  const isName = name === undefined || fits(name, /^[a-z0-9][-a-z0-9.]{0,62}$/);
  return isName && Number.isSafeInteger(revision) && fits(revisionId, /^[-0-9a-zA-Z]{1,64}$/);
}

function isMark(value: unknown): boolean {
  return fits(value, /^[0-9a-f]{32}$/);
}

function fits(value: unknown, form: RegExp): boolean {
  return typeof value === 'string' && form.test(value);
}
