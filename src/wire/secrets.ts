import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { charsetNames, defaultGeneration } from '../domain/generated-values.ts';
import { validateSecretKey, validateSecretValue } from '../domain/names.ts';
import { Plaintext } from '../domain/plaintext.ts';
import {
  booleanText,
  comment,
  expectedVersion,
  revisionText,
  secretKey,
  secretKeyPrefix,
  secretKeySchema,
  secretValue,
  secretValueSchema,
  uuid,
} from './fields.ts';
import { parsePart } from './parse-input.ts';

/** Bodies of docs/interface.md 4.5: reading and writing the secrets of an environment. */

/**
 * `set` and `generate` of a PATCH: JSON objects by key, as Maps. Not zod's record, which skips a key named `__proto__`
 * in silence; here each own property is looked at, so that one is refused by its name.
 */
const secretsToSet = byKey('must be a JSON object of keys and values', secretValueSchema, (value, fault) => {
  const message = typeof value === 'string' ? validateSecretValue(value) : 'must be a string';
  if (message === undefined) return new Plaintext(value as string);
  fault(message);
  return undefined;
});

/** A value that the server is to make up; all of it may be left out. */
const generation = z.strictObject({
  length: z.int().min(limits.minGeneratedLength).max(limits.maxGeneratedLength).exactOptional(),
  charset: z.enum(charsetNames).exactOptional(),
  expectedVersion: expectedVersion.exactOptional(),
});

const generationSchema = {
  type: 'object',
  properties: {
    length: {
      type: 'integer',
      minimum: limits.minGeneratedLength,
      maximum: limits.maxGeneratedLength,
      default: defaultGeneration.length,
    },
    charset: { type: 'string', enum: charsetNames, default: defaultGeneration.charset },
    expectedVersion: { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 },
  },
  additionalProperties: false,
} as const;

const secretsToGenerate = byKey(
  'must be a JSON object of keys and what is to be made up for each',
  generationSchema,
  (value, fault) => {
    const piece = parsePart(generation, value);
    if ('value' in piece) return piece.value;
    for (const { message, path } of piece.faults) fault(message, path);
    return undefined;
  },
);

// Far more than are reported. To find each of ten thousand would keep all other requests waiting.
const maxInvalidEntries = 1_000;

/** Parses what an object has under a key; tells a fault by its message and its place below the key. */
type ParseEntry<T> = (value: unknown, fault: (message: string, path?: readonly string[]) => void) => T | undefined;

function byKey<T>(form: string, entrySchema: object, parse: ParseEntry<T>): z.ZodType<Map<string, T>> {
  const parsed = z.unknown().transform((input, context): Map<string, T> => {
    const values = new Map<string, T>();
    const fault = (message: string, path: string[] = []): number =>
      context.issues.push({ code: 'custom', message, path, input });
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      fault(form);
      return values;
    }
    const entries: [string, unknown][] = Object.entries(input);
    if (entries.length > limits.secretsPerEnvironment) {
      fault(`must hold at most ${limits.secretsPerEnvironment} entries`);
      return values;
    }
    for (const [index, [key, value]] of entries.entries()) {
      if (context.issues.length >= maxInvalidEntries) break;
      const keyFault = validateSecretKey(key);
      if (keyFault !== undefined) fault(`the key of entry ${index + 1} ${keyFault}`, [key]);
      const entry =
        keyFault === undefined ? parse(value, (message, path = []) => void fault(message, [key, ...path])) : undefined;
      if (entry !== undefined) values.set(key, entry);
    }
    return values;
  });
  return parsed.meta({
    override: {
      type: 'object',
      propertyNames: secretKeySchema,
      additionalProperties: entrySchema,
      maxProperties: limits.secretsPerEnvironment,
    },
  });
}

export const secretParams = z.strictObject({ key: secretKey });

export const secretListQuery = z.strictObject({
  /** `false` leaves the values out. */
  values: booleanText.exactOptional(),
  prefix: secretKeyPrefix.exactOptional(),
  /** The state at this revision. */
  revision: revisionText.exactOptional(),
});

export const secretQuery = z.strictObject({ revision: revisionText.exactOptional() });

export const putSecretBody = z.strictObject({
  value: secretValue,
  comment: comment.exactOptional(),
  expectedVersion: expectedVersion.exactOptional(),
});

export const patchSecretsBody = z
  .strictObject({
    set: secretsToSet.exactOptional(),
    generate: secretsToGenerate.exactOptional(),
    delete: z.array(secretKey).max(limits.secretsPerEnvironment).exactOptional(),
    comment: comment.exactOptional(),
    /** The environment's revision id as last read: the change is refused when another came between. */
    expectedRevision: uuid.exactOptional(),
    skipUnchanged: z.boolean().exactOptional(),
  })
  .superRefine((body, context) => {
    if (body.set !== undefined || body.generate !== undefined || body.delete !== undefined) return;
    context.addIssue({ code: 'custom', message: 'must have set, generate or delete, or several of them' });
  })
  .meta({ anyOf: [{ required: ['set'] }, { required: ['generate'] }, { required: ['delete'] }] });

/** A secret as a list and a single read answer it. */
export const secretView = z.strictObject({
  key: z.string(),
  value: z.string(),
  version: z.int(),
  updatedAt: z.iso.datetime(),
});

const revisionViews = {
  /** The revision's number, for people. */
  revision: z.int(),
  /** Its random id: the one to compare and to expect. */
  revisionId: z.guid(),
};

export const secretListView = z.strictObject({ secrets: z.array(secretView), ...revisionViews });

/** The same with `?values=false`. */
export const secretKeyListView = z.strictObject({
  secrets: z.array(secretView.omit({ value: true })),
  ...revisionViews,
});

/** What a write of one key answers. It repeats no value. */
export const secretWriteView = z.strictObject({
  key: z.string(),
  version: z.int(),
  updatedAt: z.iso.datetime(),
  ...revisionViews,
});

/** What a PATCH answers: keys and versions, in the order of the request. */
export const secretPatchView = z.strictObject({
  set: z.array(z.strictObject({ key: z.string(), version: z.int() })),
  deleted: z.array(z.string()),
  /** Keys left alone because of `skipUnchanged`. */
  unchanged: z.array(z.string()),
  ...revisionViews,
});

export type GeneratedValue = z.input<typeof generation>;
export type SecretKeyListView = z.infer<typeof secretKeyListView>;
export type SecretPatchView = z.infer<typeof secretPatchView>;
export type SecretView = z.infer<typeof secretView>;
export type SecretListView = z.infer<typeof secretListView>;
