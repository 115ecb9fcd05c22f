import type { AuditEntryView } from '../../wire/audit.ts';

type Target = AuditEntryView['target'];
type SecretSyncs = Extract<Target[string], readonly object[]>;

/** One SecretSync of an entry of several reads. */
export interface SecretSyncLine {
  readonly title: string;
  readonly detail: string;
}

const maxNames = 3;

/**
 * The target on one line: its place first, as `shop / production`, then names, then the rest without ids beside which a name
 * says the same. `names` are those of ids.
 */
export function targetText(
  { project, environment, ...target }: Target,
  names: ReadonlyMap<string, string> = new Map(),
): string {
  const place = [project, environment].filter((slug) => typeof slug === 'string').join(' / ');
  const rest = Object.entries(target)
    .filter(
      ([field, value]) => !isNothing(value) && !field.endsWith('Id') && field !== 'id' && field !== 'organization',
    )
    .map(([field, value]) => (isName(field) ? shownValue(value) : `${words(field)} ${shownValue(value)}`));
  // The id of a service token, say, which has no name in the entry.
  const named = Object.keys(target).some(isName)
    ? []
    : Object.values(target).flatMap((value) => (typeof value === 'string' ? (names.get(value) ?? []) : []));
  return [place, ...named, ...rest].filter((part) => part !== '').join(' · ');
}

/** All of a target, for the drawer: each field with its value, and SecretSyncs in lines. */
export function targetFields(
  target: Target,
): readonly (readonly [name: string, value: string | readonly SecretSyncLine[]])[] {
  return Object.entries(target).flatMap(([field, value]) =>
    isNothing(value) ? [] : [[words(field), fieldValue(value)] as const],
  );
}

function fieldValue(value: Target[string]): string | readonly SecretSyncLine[] {
  if (areSecretSyncs(value)) return value.map(secretSyncLine);
  return Array.isArray(value) ? value.join(', ') : String(value);
}

function areSecretSyncs(value: Target[string]): value is SecretSyncs {
  return Array.isArray(value) && typeof value[0] === 'object';
}

function secretSyncLine({ name, source, uid, requestId }: SecretSyncs[number]): SecretSyncLine {
  return {
    title: source === undefined ? name : `${name} · source ${source}`,
    detail: `uid ${uid} · request ${requestId}`,
  };
}

function isName(field: string): boolean {
  return ['name', 'key', 'keys', 'email'].includes(field);
}

function isNothing(value: Target[string]): boolean {
  return value === null || (Array.isArray(value) && value.length === 0);
}

function shownValue(value: Target[string]): string {
  if (!Array.isArray(value)) return isTime(value) ? new Date(String(value)).toLocaleString() : String(value);
  const names = areSecretSyncs(value) ? value.map(({ name }) => name) : value;
  const shown = names.slice(0, maxNames).join(', ');
  return value.length > maxNames ? `${shown} and ${value.length - maxNames} more` : shown;
}

function isTime(value: Target[string]): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(value);
}

/** `syncedRevision` as "synced revision", and `secretSyncUid` as "SecretSync uid". */
function words(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/^secret sync/, 'SecretSync');
}
