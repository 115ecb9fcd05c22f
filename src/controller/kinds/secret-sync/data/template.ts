import { isUtf8 } from 'node:buffer';
import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { jsonField, textFunctions, urlEncoded, urlEncodedLength } from './template-functions.ts';
import { type TemplatePart, type TemplateReference, type TemplateStep, parseTemplate } from './template-parser.ts';
import {
  templateFieldBinary,
  templateFieldMissing,
  templateKeyConflict,
  templateKeyMissing,
  templateTooLarge,
  templatesTooLarge,
  templateValueBinary,
  templateValueNotJson,
  templateWorkTooLarge,
} from '../source-messages.ts';

/** Values that a Secret gets in addition to those of its environments: `spec.template`. */
export type Template = NonNullable<SecretSyncSpec['template']>;

/** The values of the environments by their names in the Secret, with those of hidden keys. */
export type SyncedValues = ReadonlyMap<string, Buffer>;

/** What the rules for keys say about the values. */
export interface KeyFacts {
  /** The path of the rules in the spec. */
  readonly keysField: string;
  /** The names of the keys that templates can use, and that are not written. */
  readonly hidden: ReadonlySet<string>;
}

const allWritten: KeyFacts = { keysField: 'spec.keys', hidden: new Set() };

interface Composition {
  /** The key that is composed. */
  readonly name: string;
  readonly values: SyncedValues;
  /** The maximum in bytes for the result and for each intermediate result. */
  readonly limit: number;
  readonly keysField: string;
  /** How many bytes the functions of all templates that do not lengthen each value may still process. */
  readonly work: { left: number };
}

// The limit bounds the cost of functions that lengthen each value. The others may also process this multiple of it.
const workShare = 8;
const lengthening: ReadonlySet<TemplateStep['name']> = new Set(['base64', 'json', 'quote']);

/** The length of a value in bytes; a lower bound if it is not exact. */
export interface ValueSize {
  readonly bytes: number;
  readonly isExact: boolean;
}

/**
 * The total length of all composed values, computed from the sizes of the values that a Secret gets. Nothing is composed.
 * Throws the errors of `composeValues` that names and sizes reveal.
 */
export function composedSize(
  template: Template | undefined,
  sizes: ReadonlyMap<string, ValueSize>,
  limit: number,
  keyFacts = allWritten,
): ValueSize {
  let total: ValueSize = { bytes: 0, isExact: true };
  for (const { name, parts } of templatesOf(template, sizes, keyFacts)) {
    let own: ValueSize = { bytes: 0, isExact: true };
    for (const part of parts) {
      const size = typeof part === 'string' ? exactly(part) : sizeOf(sizes.get(part.key), part.steps);
      own = addSizes(own, size);
      if (own.bytes > limit) throw templateTooLarge(name, limit);
    }
    total = addSizes(total, own);
  }
  return total;
}

export function addSizes(one: ValueSize, other: ValueSize): ValueSize {
  return { bytes: one.bytes + other.bytes, isExact: one.isExact && other.isExact };
}

function exactly(text: string): ValueSize {
  return { bytes: Buffer.byteLength(text), isExact: true };
}

function sizeOf(value: ValueSize | undefined, steps: readonly TemplateStep[]): ValueSize {
  let size = value;
  for (const step of steps) {
    if (step.name === 'default') size ??= exactly(step.text);
    else if (size !== undefined) size = sizeAfter[step.name](size);
  }
  return size ?? exactly('');
}

const sizeAfter: Readonly<Record<Exclude<TemplateStep['name'], 'default'>, (size: ValueSize) => ValueSize>> = {
  base64: ({ bytes, isExact }) => ({ bytes: 4 * Math.ceil(bytes / 3), isExact }),
  // They add quotes and make some characters longer.
  json: ({ bytes }) => ({ bytes: bytes + 2, isExact: false }),
  quote: ({ bytes }) => ({ bytes: bytes + 2, isExact: false }),
  urlencode: ({ bytes }) => ({ bytes, isExact: false }),
  trim: () => ({ bytes: 0, isExact: false }),
  field: () => ({ bytes: 0, isExact: false }),
};

interface ParsedTemplate {
  readonly name: string;
  readonly parts: readonly TemplatePart[];
}

/** The names of the keys that templates refer to. Throws DomainError template_invalid. */
export function referencedKeys(template: Template | undefined): ReadonlySet<string> {
  const parts = Object.entries(template?.data ?? {}).flatMap(([name, text]) => parseTemplate(name, text));
  return new Set(parts.flatMap((part) => (typeof part === 'string' ? [] : [part.key])));
}

/** The templates by name, each checked against the names of the present values. */
function templatesOf(
  template: Template | undefined,
  values: Pick<ReadonlyMap<string, unknown>, 'has'>,
  { keysField, hidden }: KeyFacts,
): readonly ParsedTemplate[] {
  const texts = Object.entries(template?.data ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const composed = new Set(texts.map(([name]) => name));
  return texts.map(([name, text]) => {
    if (values.has(name) && !hidden.has(name)) throw templateKeyConflict(name, keysField);
    const parts = parseTemplate(name, text);
    const missing = parts.filter((part) => typeof part !== 'string').filter((part) => isMissing(part, values));
    const keys = [...new Set(missing.map(({ key }) => key))];
    if (keys.length > 0) throw templateKeyMissing(name, { missing: keys, composed, keysField });
    return { name, parts };
  });
}

/**
 * Composes values from those that a Secret gets from its environments. These stay unchanged, and no template can use the
 * result of another. `limit` bounds the bytes of all results together, and so the cost. Throws DomainError template_invalid,
 * template_key_missing, template_field_missing, template_value_binary, key_conflict if a name is taken, and target_too_large.
 */
export function composeValues(
  template: Template | undefined,
  values: SyncedValues,
  limit: number,
  keyFacts = allWritten,
): readonly (readonly [name: string, value: Buffer])[] {
  let total = 0;
  const work = { left: workShare * limit };
  const { keysField } = keyFacts;
  return templatesOf(template, values, keyFacts).map(({ name, parts }) => {
    const composition = { name, values, limit, keysField, work };
    const pieces: string[] = [];
    let bytes = 0;
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : textOf(composition, part);
      bytes += Buffer.byteLength(piece);
      if (bytes > limit) throw templateTooLarge(name, limit);
      pieces.push(piece);
    }
    total += bytes;
    if (total > limit) throw templatesTooLarge(limit);
    return [name, Buffer.from(pieces.join(''), 'utf8')];
  });
}

function isMissing({ key, steps }: TemplateReference, values: Pick<ReadonlyMap<string, unknown>, 'has'>): boolean {
  return !values.has(key) && !steps.some(({ name }) => name === 'default');
}

/** The text of a reference. A missing value skips every step up to its default. */
function textOf(composition: Composition, { key, steps }: TemplateReference): string {
  let value: Buffer | string | undefined = composition.values.get(key);
  for (const [at, step] of steps.entries()) {
    if (step.name === 'default') value ??= step.text;
    else if (value !== undefined) {
      const hasDefault = steps.slice(at + 1).some(({ name }) => name === 'default');
      value = applied(composition, step, { key, value, hasDefault });
    }
  }
  // Without a default it was refused before.
  return asText(composition, key, value ?? '');
}

interface Operand {
  readonly key: string;
  readonly value: Buffer | string;
  /** Whether a default follows, for a field that is missing. */
  readonly hasDefault: boolean;
}

function applied(
  composition: Composition,
  step: Exclude<TemplateStep, { readonly name: 'default' }>,
  operand: Operand,
): string | undefined {
  const { work, limit, name } = composition;
  if (!lengthening.has(step.name)) work.left -= operand.value.length;
  if (work.left < 0) throw templateWorkTooLarge(workShare * limit);
  const result = step.name === 'field' ? fieldOf(composition, step, operand) : converted(composition, step, operand);
  // Each step of a long chain may lengthen the text.
  if (result !== undefined && Buffer.byteLength(result) > limit) throw templateTooLarge(name, limit);
  return result;
}

function converted(
  composition: Composition,
  step: Exclude<TemplateStep, { readonly name: 'default' | 'field' }>,
  { key, value }: Operand,
): string {
  if (step.name === 'base64') return asBytes(value).toString('base64');
  if (step.name !== 'urlencode') return textFunctions[step.name](asText(composition, key, value));
  const { name, limit } = composition;
  const bytes = asBytes(value);
  // It may triple the value: the length comes first.
  if (urlEncodedLength(bytes) > limit) throw templateTooLarge(name, limit);
  return urlEncoded(bytes);
}

/** The text of a field; undefined if it is missing and a default follows. */
function fieldOf(
  composition: Composition,
  { field }: Extract<TemplateStep, { readonly name: 'field' }>,
  { key, value, hasDefault }: Operand,
): string | undefined {
  const { name } = composition;
  const found = jsonField(asText(composition, key, value), field);
  if (found.kind === 'not an object') throw templateValueNotJson(name, key, field);
  if (found.kind === 'text') {
    // JSON can write half of a surrogate pair, which no Secret can hold.
    if (!found.text.isWellFormed()) throw templateFieldBinary(name, key, field);
    return found.text;
  }
  if (hasDefault) return undefined;
  throw templateFieldMissing(name, key, field);
}

function asBytes(value: Buffer | string): Buffer {
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
}

function asText({ name, keysField }: Composition, key: string, value: Buffer | string): string {
  if (typeof value === 'string') return value;
  if (isUtf8(value)) return value.toString('utf8');
  throw templateValueBinary(name, key, keysField);
}
