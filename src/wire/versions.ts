import { z } from 'zod';
import { comment, expectedVersion, integerText, secretKey, uuid, versionNumber, vouchingCluster } from './fields.ts';

/** docs/interface.md 4.6, 4.7 and 4.11: the history of a secret, its rollback, and the destruction of its values. */

export const versionParams = z.strictObject({ key: secretKey, version: integerText(1) });

export const rollbackBody = z.strictObject({
  targetVersion: versionNumber,
  undelete: z.boolean().exactOptional(),
  comment: comment.exactOptional(),
  /** The current version of the key; 0 requires that it is deleted. */
  expectedVersion: expectedVersion.exactOptional(),
  /** The revision id of the environment as last read. */
  expectedRevision: uuid.exactOptional(),
});

/** The body is optional. */
export const destroyBody = z.strictObject({ sameValue: z.boolean().exactOptional() }).default({});

const actorType = z.enum(['user', 'service_token', 'resource', 'system']);

const versionFields = {
  version: z.int().min(1),
  changeType: z.enum(['created', 'updated', 'rolled_back']),
  changedBy: z.guid(),
  changedByType: actorType,
  changedByName: z.string(),
  changedByCluster: vouchingCluster,
  comment: z.string().nullable(),
  createdAt: z.iso.datetime(),
  /** When and by whom the value was destroyed; null while the version has a value. */
  destroyedAt: z.iso.datetime().nullable(),
  destroyedBy: z.guid().nullable(),
  destroyedByType: actorType.nullable(),
  destroyedByName: z.string().nullable(),
};

export const versionView = z.strictObject(versionFields).meta({ id: 'SecretVersion' });
export const versionListView = z
  .strictObject({
    versions: z.array(versionView),
    /** When and by whom the key was deleted; null while it exists. A server of the former release lacks these fields. */
    deletedAt: z.iso.datetime().nullable().exactOptional(),
    deletedBy: z.guid().nullable().exactOptional(),
    deletedByType: actorType.nullable().exactOptional(),
    deletedByName: z.string().nullable().exactOptional(),
    deletedByCluster: vouchingCluster,
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'SecretVersionList' });
export const versionWithValueView = z
  .strictObject({ ...versionFields, value: z.string() })
  .meta({ id: 'SecretVersionWithValue' });

/** The version that a rollback created, and its revision. */
export const rollbackView = z
  .strictObject({ ...versionFields, revision: z.int(), revisionId: z.guid() })
  .meta({ id: 'RolledBackSecret' });

/** The version without its value, and the numbers of all versions that were destroyed with it. */
export const destroyedVersionView = z
  .strictObject({
    ...versionFields,
    destroyedVersions: z.array(z.int().min(1)),
  })
  .meta({ id: 'DestroyedSecretVersion' });

export type DestroyedVersionView = z.infer<typeof destroyedVersionView>;
export type RollbackView = z.infer<typeof rollbackView>;
export type VersionView = z.infer<typeof versionView>;
export type VersionListView = z.infer<typeof versionListView>;
export type VersionWithValueView = z.infer<typeof versionWithValueView>;
