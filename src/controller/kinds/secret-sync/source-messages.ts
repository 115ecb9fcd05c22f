import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ClaimedSnapshot } from '../../../domain/resources/snapshots.ts';
import type { NamedVersion } from '../../../domain/secret-states.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { shortList } from '../../names.ts';
import { targetOf } from './spec/resource.ts';
import { environmentPath } from '../../environment-ref.ts';
import { type Source, fieldOf } from './spec/source.ts';

/** Every sentence about the sources of a SecretSync: pins, keys and templates. They name keys, never values. */

/** The definition of the kind enforces it. */
export function noSources(): DomainError {
  return new DomainError('invalid_input', 'Neither spec.environmentRef nor spec.sources is set. Set one of them.');
}

/** An environment was not found; `error` says which. */
export function notFound(sync: SecretSync, { code, detail, cause }: DomainError): DomainError {
  return new DomainError(code, `${detail.replace(/[.]$/, '')}. ${unchanged(sync)}`, { cause });
}

// Pins.

/** The source that is pinned. */
export interface Pinned {
  readonly resource: SecretSync;
  readonly source: Source;
}

/** `newest` is the environment's newest revision. */
export function revisionNotFound({ resource: sync, source }: Pinned, revision: number, newest: number): DomainError {
  return new DomainError(
    'revision_not_found',
    `Environment ${environmentPath(source)} has no revision ${revision}; its newest is ${newest}. ${unchanged(sync)} ` +
      `Set ${fieldOf(source, 'revision')} to an existing revision, or wait until the environment reaches this one.`,
  );
}

export function snapshotNotFound({ resource: sync, source }: Pinned, name: string): DomainError {
  return new DomainError(
    'snapshot_not_found',
    `SecretSnapshot ${name} does not exist in this namespace. ${unchanged(sync)} ` +
      `Create it, or name another one in ${fieldOf(source, 'snapshotRef')}.`,
  );
}

/** `reason` is that of the SecretSnapshot's condition Ready. */
export function snapshotNotReady({ resource: sync }: Pinned, name: string, reason: string | undefined): DomainError {
  const { namespace = '' } = sync.metadata;
  // A status is untrusted input.
  const why = reason !== undefined && /^[A-Za-z]{1,64}$/.test(reason) ? ` (${reason})` : '';
  return new DomainError(
    'snapshot_not_ready',
    `SecretSnapshot ${name} has no snapshot yet${why}. ${unchanged(sync)} It is synced as soon as there is one. ` +
      `To see why there is none, run \`kubectl describe secretsnapshots.keyframe.dev -n ${namespace} ${name}\`.`,
  );
}

/** The SecretSnapshot never takes another snapshot. */
export function snapshotGone({ resource: sync, source }: Pinned, name: string): DomainError {
  return new DomainError(
    'snapshot_gone',
    `The snapshot of SecretSnapshot ${name} was deleted in Keyframe. ${unchanged(sync)} ` +
      `Name another SecretSnapshot in ${fieldOf(source, 'snapshotRef')}, pin to a revision with ${fieldOf(source, 'revision')}, or remove the pin.`,
  );
}

/** The snapshot is of another environment. The message contains no more than the SecretSnapshot's own status. */
export function snapshotMismatch(
  { resource: sync, source }: Pinned,
  name: string,
  snapshot: Pick<ClaimedSnapshot, 'organization' | 'project' | 'environment'>,
): DomainError {
  const { organization, project, environment } = snapshot;
  const place = `${organization}/${project}/${environment}`;
  const own = environmentPath(source);
  // An environment that was purged and created again has the same slugs.
  const whose =
    place === own ? `an earlier environment ${own}, which was purged` : `environment ${place}, not to ${own}`;
  return new DomainError(
    'snapshot_mismatch',
    `SecretSnapshot ${name} belongs to ${whose}. ${unchanged(sync)} ` +
      `Name a SecretSnapshot of ${own} in ${fieldOf(source, 'snapshotRef')}, or correct ${fieldOf(source, 'environmentRef')}.`,
  );
}

const maxNamedVersions = 10;

/** Values of keys that the Secret needs were destroyed. It is never written without them. */
export function valuesDestroyed({ resource: sync, source }: Pinned, versions: readonly NamedVersion[]): DomainError {
  const shown = versions.slice(0, maxNamedVersions).map(({ key, version }) => `${key} (version ${version})`);
  const more = versions.length > maxNamedVersions ? ` and ${versions.length - maxNamedVersions} more` : '';
  return new DomainError(
    'version_destroyed',
    `Values of the pinned state were destroyed in Keyframe: ${shown.join(', ')}${more}. ${unchanged(sync)} ` +
      'If it holds these values, it keeps them. Pin to another state, remove the pin, or exclude the keys with ' +
      `${fieldOf(source, 'keys.exclude')}.`,
  );
}

// Keys and values.

/** `field` is the place of the rules for keys in the spec. */
export function keysCollide(name: string, [one, other]: readonly [string, string], field: string): DomainError {
  const [first, second] = [one, other].sort();
  return new DomainError(
    'key_conflict',
    `The keys ${first} and ${second} would both become ${name}. Nothing is written. ` +
      `Exclude one of them with ${field}.exclude, or rename it with ${field}.rename.`,
  );
}

/** A rewritten name that no Secret can have as a key. `field` is the place of the rules, `problem` what a key must be. */
export function keyInvalid(key: string, field: string, problem: string): DomainError {
  return new DomainError(
    'key_invalid',
    `With ${field}.rewrite, the key ${key} gets a name that no Secret can have: it ${problem}. Nothing is written. ` +
      `Exclude the key with ${field}.exclude, rename it with ${field}.rename, or change ${field}.rewrite.`,
  );
}

/** `field` is the list of the keys to decode. */
export function valueNotBase64(key: string, field: string): DomainError {
  return new DomainError(
    'value_not_base64',
    `The value of ${key} is not base64, but ${field} includes the key. Nothing is written. ` +
      `Set a value in base64 (with padding), or remove the key from ${field}.`,
  );
}

/** A sentence: what a type of Secret requires. */
export function typeRequires(type: string, requirement: string): string {
  return `Type ${type} requires ${requirement}.`;
}

/** As `typeRequires`, with the keys that are missing. */
export function typeRequiresKeys(type: string, keys: readonly string[], missing: readonly string[]): string {
  const are = missing.length === 1 ? 'is' : 'are';
  return `Type ${type} requires the keys ${keys.join(' and ')}; ${missing.join(' and ')} ${are} missing.`;
}

// Templates.

/** `at` counts characters from 1. */
export function templateInvalid(name: string, at: number, problem: string): DomainError {
  return new DomainError(
    'template_invalid',
    `The template of ${name} is invalid at character ${at}: ${problem}. Nothing is written. Correct spec.template.data.`,
  );
}

// The problems of an invalid template.

export const keyExpected = 'a key name must follow "$("; write "$$(" for a literal "$("';

export const endExpected = 'expected ")" to end the reference, or "|" before a function';

export function textExpected(name: string): string {
  return `${name} needs a text in double quotes, in which \\" is a quote and \\\\ is a backslash`;
}

export function functionExpected(name: string): string {
  const found = name === '' ? 'a function is missing' : `unknown function ${name}`;
  return `${found}; the functions are base64, json, json "field", quote, trim, urlencode and default "text"`;
}

export interface MissingKeys {
  /** The keys that the template refers to and the Secret does not have. */
  readonly missing: readonly string[];
  /** The names of all templates. */
  readonly composed: ReadonlySet<string>;
  readonly keysField: string;
}

/** A template refers to missing keys without a default. */
export function templateKeyMissing(name: string, { missing, composed, keysField }: MissingKeys): DomainError {
  const isComposed = missing.some((key) => composed.has(key));
  const hint = isComposed ? ' A template cannot refer to another template.' : '';
  return new DomainError(
    'template_key_missing',
    `The template of ${name} refers to keys that the Secret does not get from the environment: ${shortList(missing)}. ` +
      `Nothing is written.${hint} Set them in the environment, include them in ${keysField} (refer to a renamed key by its ` +
      'new name), or add a default: `$(KEY | default "text")`.',
  );
}

/** A value that is not text is used as text. */
export function templateValueBinary(name: string, key: string, keysField: string): DomainError {
  return new DomainError(
    'template_value_binary',
    `The template of ${name} refers to ${key}, whose value is not UTF-8. Nothing is written. ` +
      `Write it with \`$(${key} | base64)\` or \`$(${key} | urlencode)\`, or remove the key from ${keysField}.decodeBase64.`,
  );
}

/** A template takes a field of a value that is not a JSON object at that point. */
export function templateValueNotJson(name: string, key: string, field: string): DomainError {
  return new DomainError(
    'template_field_missing',
    `The template of ${name} takes the field ${quotedField(field)} of ${key}, which is not a JSON object. Nothing is written. ` +
      'Set a JSON object as the value, or take no field of it.',
  );
}

/** A template takes a field that a JSON object does not have, without a default. */
export function templateFieldMissing(name: string, key: string, field: string): DomainError {
  return new DomainError(
    'template_field_missing',
    `The template of ${name} takes the field ${quotedField(field)} of ${key}, which is missing or null. Nothing is written. ` +
      'Set the field in the value, or add a default: `| default "text"`.',
  );
}

/** A field is a string that is not valid Unicode. */
export function templateFieldBinary(name: string, key: string, field: string): DomainError {
  return new DomainError(
    'template_value_binary',
    `The template of ${name} takes the field ${quotedField(field)} of ${key}, which is not valid Unicode: it has half of a ` +
      'surrogate pair. Nothing is written. Correct the value.',
  );
}

const maxFieldLength = 64;

/** The name of a field, in quotes. Templates can have long ones. */
function quotedField(field: string): string {
  const shown = Array.from(field);
  return JSON.stringify(shown.length > maxFieldLength ? `${shown.slice(0, maxFieldLength).join('')}…` : field);
}

/** The functions of all templates process too many bytes. */
export function templateWorkTooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The functions in spec.template.data would process more than ${maxBytes} bytes. Nothing is written. ` +
      'Use fewer functions or smaller values.',
  );
}

/** The hidden values that templates use exceed the size of a Secret. */
export function hiddenTooLarge(bytes: number, keysField: string, maxBytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The values of ${keysField}.hidden that spec.template.data uses have ${bytes} bytes, more than the ${maxBytes} bytes that ` +
      'a Secret can hold. Nothing is written. Refer to fewer hidden keys in spec.template.data.',
  );
}

/** The names of the keys alone exceed the size of a Secret. */
export function namesTooLarge(bytes: number, keysField: string, maxBytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The names of the keys have at least ${bytes} bytes, more than the ${maxBytes} bytes that a Secret can hold. ` +
      `Nothing is written. Exclude keys with ${keysField}.exclude, or distribute the sources over several SecretSyncs.`,
  );
}

/** The sources provide so many keys that planning them would delay other SecretSyncs. */
export function tooManyKeys(keysField: string, maxKeys: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The sources provide more than ${maxKeys} keys, hidden ones included. Nothing is written. ` +
      `Exclude keys with ${keysField}.exclude, or distribute the sources over several SecretSyncs.`,
  );
}

/** A reconcile would read more than the largest state; `unit` is what is counted. */
export function tooMuchToRead(amount: number, unit: string, max: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The SecretSync would read ${amount} ${unit}, more than the ${max} that the controller has memory for. ` +
      'Nothing is written. Distribute the keys over several environments.',
  );
}

/** A composed value alone exceeds the size of a Secret. */
export function templateTooLarge(name: string, maxBytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The template of ${name} has more than the ${maxBytes} bytes that a Secret can hold. Nothing is written. ` +
      'Refer to fewer keys in spec.template.data.',
  );
}

/** All composed values together exceed the size of a Secret. */
export function templatesTooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The templates together have more than the ${maxBytes} bytes that a Secret can hold. Nothing is written. ` +
      'Refer to fewer keys in spec.template.data.',
  );
}

/** The environment has a key with the name of a template. */
export function templateKeyConflict(name: string, keysField: string): DomainError {
  return new DomainError(
    'key_conflict',
    `The key ${name} comes both from the environment and from spec.template.data. Nothing is written. ` +
      `Rename the template, or exclude, hide or rename the key in ${keysField}.`,
  );
}

function unchanged(sync: SecretSync): string {
  return `Secret ${targetOf(sync).name} is unchanged.`;
}

// Reports to the database, in the log.

export const statesNotReported =
  'the states of SecretSyncs could not be reported to the database; syncing continues, and the reports are retried';

export function statesRefused(detail: string): string {
  return `the states of some SecretSyncs are not reported to the database; their syncing continues: ${detail}`;
}

export const statesReportedAgain = 'the states of SecretSyncs are reported to the database again';
