import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { secretKeyFault, secretValueFault } from '../domain/names.ts';
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

/** Bodies of docs/interface.md 4.5: reading and writing the secrets of an environment. */

/**
 * `set` of a PATCH: a JSON object of key → value, as a Map. Not zod's record, which skips a key named `__proto__`
 * in silence; here each own property is looked at, so that one is refused by its name.
 */
const secretsToSet = z
  .unknown()
  .transform((input, context): Map<string, Plaintext> => {
    const values = new Map<string, Plaintext>();
    const fault = (message: string, path: string[] = []): number =>
      context.issues.push({ code: 'custom', message, path, input });
    if (typeof input !== 'object' || input === null || Array.isArray(input)) {
      fault('must be a JSON object of keys and values');
      return values;
    }
    const entries: [string, unknown][] = Object.entries(input);
    if (entries.length > limits.secretsPerEnvironment) {
      fault(`must hold at most ${limits.secretsPerEnvironment} entries`);
      return values;
    }
    for (const [index, [key, value]] of entries.entries()) {
      const message = secretFault(index + 1, key, value);
      if (message === undefined) values.set(key, new Plaintext(value as string));
      else fault(message, [key]);
    }
    return values;
  })
  .meta({
    override: {
      type: 'object',
      propertyNames: secretKeySchema,
      additionalProperties: secretValueSchema,
      maxProperties: limits.secretsPerEnvironment,
    },
  });

function secretFault(entry: number, key: string, value: unknown): string | undefined {
  const keyFault = secretKeyFault(key);
  if (keyFault !== undefined) return `the key of entry ${entry} ${keyFault}`;
  return typeof value === 'string' ? secretValueFault(value) : 'must be a string';
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
    delete: z.array(secretKey).max(limits.secretsPerEnvironment).exactOptional(),
    comment: comment.exactOptional(),
    /** The environment's revision id as last read: the change is refused when another came between. */
    expectedRevision: uuid.exactOptional(),
    skipUnchanged: z.boolean().exactOptional(),
  })
  .superRefine((body, context) => {
    if (body.set !== undefined || body.delete !== undefined) return;
    context.addIssue({ code: 'custom', message: 'must have set, delete or both' });
  })
  .meta({ anyOf: [{ required: ['set'] }, { required: ['delete'] }] });

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

export type SecretPatchView = z.infer<typeof secretPatchView>;
export type SecretView = z.infer<typeof secretView>;
export type SecretListView = z.infer<typeof secretListView>;
