import { isUtf8 } from 'node:buffer';
import type { SecretSyncSpec } from '../generated/secret-sync.ts';
import { type TemplateReference, type TemplateStep, parseTemplate } from './template-parser.ts';
import { templateKeyConflict, templateKeyMissing, templateTooLarge, templateValueBinary } from './template-refusals.ts';

/** Values that a Secret gets beside those of its environment: `spec.template`. */
export type Template = NonNullable<SecretSyncSpec['template']>;

/** The environment's values by their names in the Secret. */
export type SyncedValues = ReadonlyMap<string, Buffer>;

interface Composition {
  /** The key that is composed. */
  readonly name: string;
  readonly values: SyncedValues;
  /** Bytes that neither the whole nor any step on its way may exceed. */
  readonly limit: number;
  /** Where the rules for keys stand in the spec. */
  readonly keysField: string;
}

/**
 * Composes values from those that a Secret gets from its environment; none of them is ever changed or taken away, and no
 * template sees another one's. Bound by `limit` in bytes for each, also in what it costs; `keysField` is where the rules for
 * keys stand in the spec. Throws DomainError
 * template_invalid, template_key_missing, template_value_binary, key_conflict where a name is taken, and
 * target_too_large.
 */
export function composeValues(
  template: Template | undefined,
  values: SyncedValues,
  limit: number,
  keysField = 'spec.keys',
): readonly (readonly [name: string, value: Buffer])[] {
  const texts = Object.entries(template?.data ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const composed = new Set(texts.map(([name]) => name));
  return texts.map(([name, text]) => {
    if (values.has(name)) throw templateKeyConflict(name, keysField);
    const parts = parseTemplate(name, text);
    const missing = parts.filter((part) => typeof part !== 'string').filter((part) => isMissing(part, values));
    const keys = [...new Set(missing.map(({ key }) => key))];
    if (keys.length > 0) throw templateKeyMissing(name, { missing: keys, composed, keysField });
    const composition = { name, values, limit, keysField };
    const pieces: string[] = [];
    let bytes = 0;
    for (const part of parts) {
      const piece = typeof part === 'string' ? part : textOf(composition, part);
      bytes += Buffer.byteLength(piece);
      if (bytes > limit) throw templateTooLarge(name, limit);
      pieces.push(piece);
    }
    return [name, Buffer.from(pieces.join(''), 'utf8')];
  });
}

function isMissing({ key, steps }: TemplateReference, values: SyncedValues): boolean {
  return !values.has(key) && !steps.some(({ name }) => name === 'default');
}

/** What a reference stands for. A value that is not there stays away from every step up to its default. */
function textOf(composition: Composition, { key, steps }: TemplateReference): string {
  let value: Buffer | string | undefined = composition.values.get(key);
  for (const step of steps) {
    if (step.name === 'default') value ??= step.text;
    else if (value !== undefined) value = applied(composition, step.name, { key, value });
  }
  // Where nothing stands in for it, it was refused before.
  return asText(composition, key, value ?? '');
}

function applied(
  composition: Composition,
  step: Exclude<TemplateStep['name'], 'default'>,
  { key, value }: { readonly key: string; readonly value: Buffer | string },
): string {
  const result = step === 'base64' ? asBytes(value).toString('base64') : written[step](asText(composition, key, value));
  // Each step of a long chain may make more of the one before.
  if (Buffer.byteLength(result) > composition.limit) throw templateTooLarge(composition.name, composition.limit);
  return result;
}

const written: Readonly<Record<'json' | 'quote', (text: string) => string>> = {
  json: (text) => JSON.stringify(text),
  // As one word of a POSIX shell (2.2.2 Single-Quotes): nothing in it means anything but itself.
  quote: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
};

function asBytes(value: Buffer | string): Buffer {
  return typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
}

function asText({ name, keysField }: Composition, key: string, value: Buffer | string): string {
  if (typeof value === 'string') return value;
  if (isUtf8(value)) return value.toString('utf8');
  throw templateValueBinary(name, key, keysField);
}
