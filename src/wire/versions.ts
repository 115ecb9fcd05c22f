import { z } from 'zod';
import { comment, integerText, secretKey, versionNumber } from './fields.ts';

/** docs/interface.md 4.6 and 4.7: the history of a secret and its rollback. */

export const versionParams = z.strictObject({ key: secretKey, version: integerText(1) });

export const rollbackBody = z.strictObject({ targetVersion: versionNumber, comment: comment.exactOptional() });

const versionFields = {
  version: z.int().min(1),
  changeType: z.enum(['created', 'updated', 'rolled_back']),
  changedBy: z.guid(),
  changedByType: z.enum(['user', 'service_token', 'resource', 'system']),
  changedByName: z.string(),
  comment: z.string().nullable(),
  createdAt: z.iso.datetime(),
};

export const versionView = z.strictObject(versionFields);
export const versionListView = z.strictObject({ versions: z.array(versionView), nextCursor: z.string().nullable() });
export const versionWithValueView = z.strictObject({ ...versionFields, value: z.string() });

/** The version that a rollback made, and the revision it made it in. */
export const rollbackView = z.strictObject({ ...versionFields, revision: z.int(), revisionId: z.guid() });

export type RollbackView = z.infer<typeof rollbackView>;
export type VersionView = z.infer<typeof versionView>;
export type VersionListView = z.infer<typeof versionListView>;
export type VersionWithValueView = z.infer<typeof versionWithValueView>;
