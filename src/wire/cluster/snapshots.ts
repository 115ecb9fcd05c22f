import { z } from 'zod';
import type { ClaimedSnapshot, SnapshotOrGone, TakeSnapshotInput } from '../../domain/resources/snapshots.ts';
import { boundedText, codecOf, count, date, strict } from './codec.ts';

/** The snapshots of SecretSnapshots. */

export const takeSnapshotInput = codecOf<TakeSnapshotInput>()(
  strict({ name: boundedText().optional(), description: boundedText(4_000).optional() }),
);

const claimedSnapshot = codecOf<ClaimedSnapshot>()(
  z.object({
    organization: z.string(),
    project: z.string(),
    environment: z.string(),
    id: z.string(),
    environmentId: z.string(),
    createdAt: date,
    secretCount: count,
    revision: count,
    revisionId: z.string().nullable(),
    digest: z.string(),
    adopted: z.boolean(),
    environmentDeleted: z.boolean(),
  }),
);

export const snapshotOrGone = codecOf<SnapshotOrGone>()(z.union([z.literal('gone'), claimedSnapshot]));
