import { z } from 'zod';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
  HandOverInput,
} from '../../domain/resources/environments.ts';
import { objectName } from './asker.ts';
import { boundedText, codecOf, count, id, strict } from './codec.ts';

/** The environments of SecretEnvironments. */

const maxNamers = 1_000;
const maxOwners = 100;

const slugs = { organization: boundedText(), project: boundedText(), environment: boundedText() };

export const ensureEnvironmentInput = codecOf<EnsureEnvironmentInput>()(
  strict({ ...slugs, displayName: boundedText().optional(), namers: z.array(id).max(maxNamers).optional() }),
);

export const firstOwnersInput = codecOf<FirstOwnersInput>()(
  strict({ organization: boundedText(), owners: z.array(boundedText()).max(maxOwners) }),
);

export const handOverInput = codecOf<HandOverInput>()(
  strict({ ...slugs, successor: strict({ name: objectName, uid: id }) }),
);

export const ensuredEnvironment = codecOf<EnsuredEnvironment>()(
  z.object({
    environmentId: z.string(),
    revision: count,
    revisionId: z.string(),
    secretCount: count,
    created: z.boolean(),
    hasOwner: z.boolean(),
    namer: z.string().optional(),
  }),
);

export const environmentOrGone = codecOf<EnvironmentOrGone>()(
  z.union([z.literal('gone'), z.object({ environmentId: z.string() })]),
);
