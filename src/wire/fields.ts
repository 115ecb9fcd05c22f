import { z } from 'zod';
import { globLimits, validateGlobCount, validateKeyGlob } from '../domain/key-globs.ts';
import { limits } from '../domain/limits.ts';
import {
  clusterNamePattern,
  validateClusterName,
  validateComment,
  validateEmail,
  emailPattern,
  validateName,
  validateSecretKey,
  validateSecretKeyPrefix,
  validateSecretValue,
  validateSlug,
  slugPattern,
} from '../domain/names.ts';
import { Plaintext } from '../domain/plaintext.ts';

/** Fields that several requests share. Their rules are those of docs/interface.md section 2, kept in domain/names. */

/** Maximum version and revision number in the database. */
const maxInteger = 2 ** 31 - 1;

// The rules of domain/names as JSON Schema, for the OpenAPI document. Requests are checked by domain/names only.
// Control characters are listed, because not every JSON Schema library supports \p{Cc}.
const oneLine = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;
const nonBlankLine = String.raw`^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$`;
export const secretKeySchema = {
  type: 'string',
  pattern: String.raw`^(?!\.$|\.\.|__proto__$)[A-Za-z0-9._-]{1,253}$`,
  description: 'Key of a secret.',
} as const;
export const secretValueSchema = {
  type: 'string',
  maxLength: limits.valueBytes,
  description: `Value of a secret: Unicode text of at most ${limits.valueBytes} bytes of UTF-8.`,
} as const;

export const slug = text(validateSlug).meta({ pattern: slugPattern.source });
/** The name of a cluster. */
export const clusterName = text(validateClusterName).meta({ pattern: clusterNamePattern.source });
/**
 * In responses: the cluster that vouched for an actor; null if none did, and for callers who may not see it. A server of the
 * former release does not return it.
 */
export const vouchingCluster = z.string().nullable().exactOptional();
export const name = text(validateName).meta({ maxLength: limits.nameLength, pattern: nonBlankLine });
export const comment = text(validateComment).meta({ maxLength: limits.commentLength, pattern: oneLine });
export const secretKey = text(validateSecretKey).meta(secretKeySchema);
export const secretKeyPrefix = text(validateSecretKeyPrefix).meta({
  pattern: '^[A-Za-z0-9._-]{1,253}$',
  description: 'Prefix of keys.',
});
export const uuid = z.guid({ error: 'must be a UUID' }).transform((id) => id.toLowerCase());
/** Stored and compared in lower case. */
export const email = text(validateEmail)
  .meta({ pattern: emailPattern.source })
  .transform((address) => address.toLowerCase());
/** A user in a path. */
export const userRef = z.union([uuid.transform((id) => ({ id })), email.transform((address) => ({ email: address }))], {
  error: "must be a user's UUID or e-mail address",
});
export const secretValue = text(validateSecretValue)
  .meta(secretValueSchema)
  .transform((value) => new Plaintext(value));
/** Hash of a plan that a dry run returned. */
export const planHash = z.string().regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be the planHash of a dry run' });
export const versionNumber = z.int().min(1).max(maxInteger);
/** An expected version: 0 requires that the key does not exist. */
export const expectedVersion = z.int().min(0).max(maxInteger);
/** A time with its UTC offset, such as `2027-01-31T12:00:00Z`. */
export const timestamp = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a UTC offset, such as 2027-01-31T12:00:00Z' })
  .transform((moment) => new Date(moment));

/** An integer in a path or query, as text. */
export function integerText(min: number, max = maxInteger): z.ZodType<number, string> {
  const message = `must be an integer from ${min} to ${max}`;
  const parsed = z.string().transform((digits, context) => {
    const value = /^[0-9]{1,10}$/.test(digits) ? Number(digits) : Number.NaN;
    if (value >= min && value <= max) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
  return parsed.meta({ override: { type: 'integer', minimum: min, maximum: max } });
}

/** `true` or `false` in a query. */
export const booleanText = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .meta({
    override: ({ jsonSchema }) => {
      jsonSchema.type = 'boolean';
      delete jsonSchema.enum;
    },
  });

const revisionError = { error: `must be the number of a revision (0 to ${maxInteger}) or its id` };

/** A revision in a path or query: its number, or its id. */
export const revisionText = z.union([integerText(0), uuid], revisionError);

/** A revision in a body: its number, or its id. */
export const revisionRef = z.union([z.int().min(0).max(maxInteger), uuid], revisionError);

const keyGlobs = z
  .array(text(validateKeyGlob).meta({ pattern: `^[-._a-zA-Z0-9*?]{1,${globLimits.length}}$` }))
  .superRefine((globs, context) => {
    const message = validateGlobCount(globs);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .meta({ maxItems: globLimits.globs });

/** Some keys of an environment, by globs, as in a SecretSync. */
export const keySelection = z
  .strictObject({ include: keyGlobs.exactOptional(), exclude: keyGlobs.exactOptional() })
  .meta({
    description:
      'Globs of keys: "*" matches any characters, "?" matches one. The included keys (default: all) without the excluded ' +
      'ones. An empty include list selects none.',
  });

/** Headers of a conditional read (RFC 9110 section 13.1.2). */
export const conditionalHeaders = z.object({ 'if-none-match': z.string().exactOptional() });

/** A string with a check of domain/names, whose validation message becomes the error. */
export function text(validate: (candidate: string) => string | undefined): z.ZodType<string, string> {
  return z.string().superRefine((candidate, context) => {
    const message = validate(candidate);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}
