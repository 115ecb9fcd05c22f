import { z } from 'zod';
import type { KeyRules } from '../../domain/chosen-keys.ts';
import { globLimits } from '../../domain/key-globs.ts';
import { limits } from '../../domain/limits.ts';
import type { FoundState, LargerState, StateRef } from '../../domain/secret-states.ts';
import type {
  AdmittedSource,
  AskedRevision,
  AskedSource,
  ReadSource,
  RevisionQuestion,
  SourceFault,
  SourceIdentity,
  SourceRefusal,
  SourcesAnswer,
  SourceToken,
  ValueSelection,
  ValuesQuestion,
} from '../../domain/source-reads.ts';
import { environmentSlugs, seenRules, syncAsker } from './asker.ts';
import { boundedText, codecOf, count, date, id, mapOf, plaintext, strict } from './codec.ts';
import { domainError } from './error.ts';

/** Reads of the sources of SecretSyncs. */

const maxTokenLength = 16 * 1024;
const credential = codecOf<SourceIdentity['credential']>()(
  z.union([z.literal('keyless'), strict({ token: sizedPlaintext().optional() })]),
);

function sizedPlaintext(): typeof plaintext {
  return plaintext.refine((token) => token.reveal().length <= maxTokenLength, 'must be a token');
}

const identityShape = { name: boundedText(63).optional(), slugs: environmentSlugs, credential };
const maxKeys = z.int().min(0).max(limits.secretsPerEnvironment);
const askedRevision = codecOf<AskedRevision>()(
  strict({ revision: z.union([count, id]), deletedSince: z.boolean().optional() }),
);

export const askedSource = codecOf<AskedSource>()(
  strict({
    ...identityShape,
    state: z.union([z.literal('newest'), z.literal('later'), askedRevision]),
    recordedId: boundedText(100).optional(),
  }),
);

export const maxReadKeys = maxKeys;

const keyName = boundedText(limits.secretKeyLength);
const globs = z.array(boundedText(globLimits.length)).max(globLimits.globs);
const maxRenamed = 128;

const keyRules = codecOf<KeyRules>()(
  strict({
    include: globs.optional(),
    exclude: globs.optional(),
    hidden: globs.optional(),
    rename: z
      .array(strict({ from: keyName, to: keyName }))
      .max(maxRenamed)
      .optional(),
    rewrite: strict({ stripPrefix: keyName.optional(), addPrefix: keyName.optional() }).optional(),
  }),
);

// Templates can name more keys: then the values are asked for separately.
const maxTemplateNames = 1_000;

export const valueSelection = codecOf<ValueSelection>()(
  strict({
    rules: z.array(keyRules).max(limits.sourcesPerSecretSync),
    templateNames: z.array(keyName).max(maxTemplateNames),
    maxBytes: z.int().min(0),
  }),
);

const admittedSource = codecOf<AdmittedSource>()(
  strict({ ...identityShape, asker: syncAsker, tokenId: id, environmentId: id }),
);

const stateRef = codecOf<StateRef>()(strict({ environmentId: id, revision: count, revisionId: id, keyCount: count }));

export const revisionQuestion = codecOf<RevisionQuestion>()(
  strict({ source: admittedSource, state: askedRevision, maxKeys }),
);

export const valuesQuestion = codecOf<ValuesQuestion>()(
  strict({
    source: admittedSource,
    state: stateRef,
    keys: z.array(boundedText(limits.secretKeyLength)).max(limits.secretsPerEnvironment),
  }),
);

export const values = mapOf(plaintext);

export const foundState = codecOf<FoundState | LargerState>()(
  z.union([
    z.object({
      environmentId: z.string(),
      revision: count,
      revisionId: z.string(),
      secrets: z.array(z.object({ key: z.string(), bytes: count })),
      destroyed: z.array(z.object({ key: z.string(), version: count })),
      deletedSince: z.array(z.string()),
    }),
    z.object({ keys: count }),
  ]),
);

const sourceToken = codecOf<SourceToken>()(
  z.object({ id: z.string(), credentialId: z.string().nullable(), expiresAt: date.nullable() }),
);

const readSource = codecOf<ReadSource>()(
  z.object({
    token: sourceToken.optional(),
    environmentId: z.string().optional(),
    head: z.object({ revision: count, revisionId: z.string() }).optional(),
    clusterRules: seenRules.optional(),
    state: foundState.optional(),
    values: values.optional(),
  }),
);

const sourceRefusal = codecOf<SourceRefusal>()(
  z.object({
    source: count,
    step: z.enum(['token', 'environment', 'state']),
    error: domainError,
    // A newer server may name others.
    fault: z.custom<SourceFault>((fault) => typeof fault === 'string').optional(),
    tokenId: z.string().optional(),
    environmentId: z.string().optional(),
  }),
);

export const sourcesAnswer = codecOf<SourcesAnswer>()(
  z.object({ sources: z.array(readSource), isReplaced: z.boolean(), refusal: sourceRefusal.optional() }),
);
