import type { SecretSync } from '../../../generated/secret-sync.ts';
import { sourcesOfRecord } from '../target/target-record.ts';
import { dataMark } from '../../rollout/restart-mark.ts';
import { retryAnnotation, rolledBackAnnotation } from '../../../annotations.ts';
import { shortDigest } from '../../../names.ts';
import type { TargetRecord, TargetFacts, RolledBack, SourceRevision } from '../model.ts';

/** As a record has it: JSON. */
export function formatRolledBack(rolledBack: RolledBack): string {
  return JSON.stringify(inOrder(rolledBack));
}

/** What a record tells; undefined where it tells of nothing, or was spoilt by hand. */
export function rolledBackOf(record: TargetRecord): RolledBack | undefined {
  try {
    const told: unknown = JSON.parse(record[rolledBackAnnotation] ?? 'null');
    return isRolledBack(told) ? inOrder(told) : undefined;
  } catch {
    return undefined;
  }
}

/** Nothing but what is known, in one order: the same is the same text, wherever it came from. */
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
 * What a Secret is rolled back to at present. Its own record tells; where it is gone, or its record was spoilt, what was
 * known of it before, from the memory or the status (`otherwise`). A record that tells of its sources and of no rollback is
 * of a Secret that went forward, unless it still holds the very data.
 */
export function presentRollback(target: TargetFacts, otherwise: RolledBack | undefined): RolledBack | undefined {
  if (target.state !== 'owned' && target.state !== 'shared') return otherwise;
  const told = rolledBackOf(target.record);
  if (told !== undefined || otherwise === undefined) return told;
  const isSpoilt = sourcesOfRecord(target.record) === undefined;
  return isSpoilt || dataMark(target.fingerprint) === otherwise.held.data ? otherwise : undefined;
}

/** Stands for the value of the annotation that asks for another try; undefined without it. */
export function retryOf({ metadata: { annotations = {} } }: SecretSync): string | undefined {
  const value = annotations[retryAnnotation];
  return value === undefined ? undefined : shortDigest(value);
}

// Anybody who may edit the Secret can write anything into its annotations.
function isRolledBack(told: unknown): told is RolledBack {
  if (!isObject(told) || !isObject(told['held'])) return false;
  const { data, sources, held, cause, retry } = told;
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
