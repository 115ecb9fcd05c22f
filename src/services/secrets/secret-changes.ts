import { randomText } from '../../crypto/random-text.ts';
import { DomainError, type FieldError, invalidField } from '../../domain/errors/domain-error.ts';
import {
  charsetNames,
  charsets,
  defaultGeneration,
  validateGeneratedLength,
  type Generation,
} from '../../domain/generated-values.ts';
import { limits } from '../../domain/limits.ts';
import { validateSecretKey, validateSecretValue } from '../../domain/names.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { checkVersion } from '../kernel/checks.ts';
import type { WantedChange } from './secret-plan.ts';

const maxErrors = 20;

/** A value that the server generates for a key. */
export interface GenerateInput extends Partial<Generation> {
  /** The version the key must be at; 0 if it must not exist. */
  readonly expectedVersion?: number;
}

/** A change of several keys. */
export interface BatchInput {
  readonly set: ReadonlyMap<string, Plaintext>;
  readonly generate: ReadonlyMap<string, GenerateInput>;
  readonly delete: readonly string[];
}

/**
 * The changes of several keys, in that order. Values to generate are generated here, in time slices. Throws DomainError
 * invalid_input for invalid keys, values and lengths, for more generated characters than an environment holds, and for
 * a key that is named twice.
 */
export async function wantedChangesOf({
  set,
  generate,
  delete: deleted,
}: BatchInput): Promise<Map<string, WantedChange>> {
  const slice = new TimeSlice();
  refuse([
    ...keyErrors('set', [...set.keys()]),
    ...keyErrors('generate', [...generate.keys()]),
    ...keyErrors('delete', deleted),
  ]);
  if (slice.isOver) await slice.next();
  refuse(valueErrors([...set].map(([key, value]) => [`set.${key}`, value])));
  const wanted = new Map<string, WantedChange>();
  const add = (field: string, key: string, change: () => WantedChange): void => {
    if (wanted.has(key)) throw invalidField(field, `${key} is ${placeOf(key, { set, generate }, field)}`);
    wanted.set(key, change());
  };
  for (const [key, value] of set) add(`set.${key}`, key, () => ({ kind: 'set', value }));
  checkGenerated(generate);
  for (const [key, input] of generate) {
    if (slice.isOver) await slice.next();
    add(`generate.${key}`, key, () => generatedChange(input));
  }
  for (const [index, key] of deleted.entries()) add(`delete.${index}`, key, () => ({ kind: 'delete' }));
  return wanted;
}

/** Where else a key is named. */
function placeOf(key: string, { set, generate }: Pick<BatchInput, 'set' | 'generate'>, field: string): string {
  if (set.has(key)) return 'in set as well';
  return generate.has(key) && !field.startsWith('generate.') ? 'in generate as well' : 'named twice';
}

/** Before anything is generated: a short request must not make the server work without bound. */
function checkGenerated(generate: ReadonlyMap<string, GenerateInput>): void {
  let total = 0;
  for (const [key, { length = defaultGeneration.length, charset, expectedVersion }] of generate) {
    const message = validateGeneratedLength(length);
    if (message !== undefined) throw invalidField(`generate.${key}.length`, message);
    if (charset !== undefined && !Object.hasOwn(charsets, charset))
      throw invalidField(`generate.${key}.charset`, `must be one of ${charsetNames.join(', ')}`);
    if (expectedVersion !== undefined) checkVersion(`generate.${key}.expectedVersion`, expectedVersion, 0);
    total += length;
  }
  if (total > limits.environmentBytes)
    throw invalidField('generate', `must come to at most ${limits.environmentBytes} characters together`);
}

function generatedChange({ expectedVersion, length, charset }: GenerateInput): WantedChange {
  const { length: usualLength, charset: usualCharset } = defaultGeneration;
  const value = randomText(charsets[charset ?? usualCharset], length ?? usualLength);
  const expected = expectedVersion === undefined ? {} : { expectedVersion };
  return { kind: 'set', value, isGenerated: true, ...expected };
}

/** Throws DomainError invalid_input for an invalid value. */
export function checkValue(field: string, value: Plaintext): void {
  refuse(valueErrors([[field, value]]));
}

/** Names an invalid key by its place: what is not a key may be a misplaced secret. */
function keyErrors(field: string, keys: readonly string[]): FieldError[] {
  return keys.flatMap((key, index) => {
    const message = validateSecretKey(key);
    return message === undefined ? [] : [{ field, message: `the key of entry ${index + 1} ${message}` }];
  });
}

function valueErrors(values: readonly (readonly [field: string, value: Plaintext])[]): FieldError[] {
  return values.flatMap(([field, value]) => {
    const message = validateSecretValue(value.reveal());
    return message === undefined ? [] : [{ field, message }];
  });
}

function refuse(errors: readonly FieldError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`;
  throw new DomainError('invalid_input', `${first.field}: ${first.message}${more}`, {
    fields: errors.slice(0, maxErrors),
  });
}
