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
  vouchingCluster,
} from './fields.ts';
import { parsePart } from './parse-input.ts';

/** Bodies of docs/interface.md 4.5: reading and writing the secrets of an environment. */

/**
 * `set` and `generate` of a PATCH: JSON objects by key, as Maps. The record of zod silently skips a key named
 * `__proto__`. This schema checks each property, so it refuses that key by name.
 */
const secretsToSet = byKey<string, Plaintext>(
  'must be a JSON object of keys and values',
  secretValueSchema,
  (value, report) => {
    const message = typeof value === 'string' ? validateSecretValue(value) : 'must be a string';
    if (message === undefined) return new Plaintext(value as string);
    report(message);
    return undefined;
  },
);

/** A value that the server generates. All fields are optional. */
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

const secretsToGenerate = byKey<GeneratedValue, z.output<typeof generation>>(
  'must be a JSON object of keys and what to generate for each',
  generationSchema,
  (value, report) => {
    const part = parsePart(generation, value);
    if ('value' in part) return part.value;
    for (const { message, path } of part.errors) report(message, path);
    return undefined;
  },
);

// Far more than are reported. Collecting ten thousand would block all other requests.
const maxInvalidEntries = 1_000;

/** Parses the value of an entry. Reports errors with a message and a path below the key. */
type ParseEntry<T> = (value: unknown, report: (message: string, path?: readonly string[]) => void) => T | undefined;

function byKey<Entry, T>(
  typeMessage: string,
  entrySchema: object,
  parse: ParseEntry<T>,
): z.ZodType<Map<string, T>, Readonly<Record<string, Entry>>> {
  // It takes everything and checks it itself, so clients get their type from here.
  const given = z.unknown() as z.ZodType<unknown, Readonly<Record<string, Entry>>>;
  const parsed = given.transform((input, context): Map<string, T> => {
    const values = new Map<string, T>();
    const report = (message: string, path: string[] = []): number =>
      context.issues.push({ code: 'custom', message, path, input });
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      report(typeMessage);
      return values;
    }
    const entries: [string, unknown][] = Object.entries(input);
    if (entries.length > limits.secretsPerEnvironment) {
      report(`must hold at most ${limits.secretsPerEnvironment} entries`);
      return values;
    }
    for (const [index, [key, value]] of entries.entries()) {
      if (context.issues.length >= maxInvalidEntries) break;
      const keyMessage = validateSecretKey(key);
      if (keyMessage !== undefined) report(`the key of entry ${index + 1} ${keyMessage}`, [key]);
      const entry =
        keyMessage === undefined
          ? parse(value, (message, path = []) => void report(message, [key, ...path]))
          : undefined;
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

const secretListFields = z.strictObject({
  /** `false` omits the values. */
  values: booleanText.exactOptional(),
  prefix: secretKeyPrefix.exactOptional(),
  /** The state at this revision. */
  revision: revisionText.exactOptional(),
  /** `true` leaves out secrets whose value of then was destroyed. */
  skipDestroyed: booleanText.exactOptional(),
  /** `true` lists the keys that are deleted, instead of the secrets. */
  deleted: booleanText.exactOptional(),
});

/** Deleted keys are listed without values, as they are now. */
export const secretListQuery = secretListFields.superRefine((query, context) => {
  if (query.deleted !== true) return;
  const refuse = (field: keyof typeof query, message: string): void =>
    context.addIssue({ code: 'custom', path: [field], message: `${message}; leave it out` });
  if (query.values === true) refuse('values', 'cannot be true with deleted=true, which lists no values');
  if (query.skipDestroyed === true) refuse('skipDestroyed', 'cannot be true with deleted=true, which lists no values');
  if (query.revision !== undefined) refuse('revision', 'cannot be set with deleted=true, which lists the present');
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
    /** The revision id of the environment as last read. If there was another change since then, this one is refused. */
    expectedRevision: uuid.exactOptional(),
    skipUnchanged: z.boolean().exactOptional(),
  })
  .superRefine((body, context) => {
    if (body.set !== undefined || body.generate !== undefined || body.delete !== undefined) return;
    context.addIssue({ code: 'custom', message: 'must have set, generate or delete, or several of them' });
  })
  .meta({ anyOf: [{ required: ['set'] }, { required: ['generate'] }, { required: ['delete'] }] });

/** A secret in a list or a single read. */
export const secretView = z
  .strictObject({
    key: z.string(),
    value: z.string(),
    version: z.int(),
    updatedAt: z.iso.datetime(),
  })
  .meta({ id: 'Secret' });

const revisionViews = {
  /** The revision's number, for people. */
  revision: z.int(),
  /** The random id of the revision, to compare and to expect. */
  revisionId: z.guid(),
};

export const secretListView = z.strictObject({ secrets: z.array(secretView), ...revisionViews });

const actorType = z.enum(['user', 'service_token', 'resource', 'system']);

/** A secret without its value, and who made its version, under their name as of then. */
export const secretKeyView = secretView.omit({ value: true }).extend({
  updatedBy: z.guid(),
  updatedByType: actorType,
  updatedByName: z.string(),
  updatedByCluster: vouchingCluster,
});

/** The list with `?values=false`. */
export const secretKeyListView = z.strictObject({
  secrets: z.array(secretKeyView),
  ...revisionViews,
});

/** A key that is deleted: its last version, and when and by whom it was deleted. */
export const deletedSecretView = secretView.omit({ value: true }).extend({
  deletedAt: z.iso.datetime(),
  deletedBy: z.guid(),
  deletedByType: actorType,
  deletedByName: z.string(),
  deletedByCluster: vouchingCluster,
});

/** The list with `?deleted=true`. */
export const deletedSecretListView = z.strictObject({ secrets: z.array(deletedSecretView), ...revisionViews });

/**
 * A secret in the list; with who made its version in place of `value` if the request has `values=false`, and with its
 * deletion if `deleted=true`.
 */
const listedSecretView = secretView
  .extend({
    value: z.string().exactOptional(),
    updatedBy: secretKeyView.shape.updatedBy.exactOptional(),
    updatedByType: secretKeyView.shape.updatedByType.exactOptional(),
    updatedByName: secretKeyView.shape.updatedByName.exactOptional(),
    updatedByCluster: vouchingCluster,
    deletedAt: deletedSecretView.shape.deletedAt.exactOptional(),
    deletedBy: deletedSecretView.shape.deletedBy.exactOptional(),
    deletedByType: deletedSecretView.shape.deletedByType.exactOptional(),
    deletedByName: deletedSecretView.shape.deletedByName.exactOptional(),
    deletedByCluster: vouchingCluster,
  })
  .meta({ id: 'ListedSecret' });

/** Any of these lists, as one type: generated clients cannot choose between them by the query. */
export const listedSecretsView = z
  .strictObject({ secrets: z.array(listedSecretView), ...revisionViews })
  .meta({ id: 'SecretList' });

/** The response to a write of one key, without its value. */
export const secretWriteView = z
  .strictObject({
    key: z.string(),
    version: z.int(),
    updatedAt: z.iso.datetime(),
    ...revisionViews,
  })
  .meta({ id: 'WrittenSecret' });

/** The response to a PATCH: keys and versions, in the order of the request. */
export const secretPatchView = z
  .strictObject({
    set: z.array(z.strictObject({ key: z.string(), version: z.int() })),
    deleted: z.array(z.string()),
    /** Keys that `skipUnchanged` left unchanged. */
    unchanged: z.array(z.string()),
    ...revisionViews,
  })
  .meta({ id: 'PatchedSecrets' });

export type GeneratedValue = z.input<typeof generation>;
export type DeletedSecretView = z.infer<typeof deletedSecretView>;
export type DeletedSecretListView = z.infer<typeof deletedSecretListView>;
export type SecretKeyView = z.infer<typeof secretKeyView>;
export type SecretKeyListView = z.infer<typeof secretKeyListView>;
export type SecretPatchView = z.infer<typeof secretPatchView>;
export type SecretView = z.infer<typeof secretView>;
export type SecretListView = z.infer<typeof secretListView>;
