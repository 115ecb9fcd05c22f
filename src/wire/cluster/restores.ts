import { z } from 'zod';
import type { KeySelection } from '../../domain/key-globs.ts';
import type {
  ClaimedRestore,
  PlanHashes,
  ResourcePlan,
  ResourceRestoreOptions,
  RestoreSource,
} from '../../domain/resources/restores.ts';
import { boundedText, codecOf, count, date, strict } from './codec.ts';

/** The restores of SnapshotRestores. */

const maxGlobs = 1_000;

export const restoreSource = codecOf<RestoreSource>()(
  strict({ snapshotId: boundedText(), secretSnapshotUid: boundedText().nullable() }),
);

const globs = z.array(boundedText()).max(maxGlobs).optional();
const keySelection = codecOf<KeySelection>()(strict({ include: globs, exclude: globs }));

export const restoreOptions = codecOf<ResourceRestoreOptions>()(
  strict({
    prune: z.boolean(),
    skipUnchanged: z.boolean(),
    includeDeleted: z.boolean(),
    keys: keySelection.optional(),
    backup: z.boolean(),
  }),
);

export const planHash = boundedText();

export const planHashes = codecOf<PlanHashes>()(strict({ known: planHash.optional(), approved: planHash.optional() }));

const keys = z.object({ count, keys: z.array(z.string()) });
const place = { snapshotId: z.string(), environmentId: z.string(), environment: z.string() };
const lists = { restored: keys, recreated: keys, unchanged: keys, skipped: keys, destroyed: keys, pruned: keys };
const at = { revision: count, revisionId: z.string() };

export const resourcePlan = codecOf<ResourcePlan>()(z.object({ ...place, ...lists, ...at, planHash: z.string() }));

export const claimedRestore = codecOf<ClaimedRestore>()(
  z.object({
    ...place,
    ...lists,
    ...at,
    planHash: z.string().nullable(),
    from: z.object(at),
    backupSnapshotId: z.string().nullable(),
    startedAt: date,
    completedAt: date,
  }),
);
