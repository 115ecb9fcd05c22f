import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { integerText, timestamp, uuid, vouchingCluster } from './fields.ts';
import { actorType, tokenCreatorView } from './token-creator.ts';

/** docs/interface.md 6: reading the audit of an organization or of the instance. */

export const auditQuery = z.strictObject({
  /** An action, or a prefix of actions that ends with a dot. */
  action: z
    .string()
    .max(64, { error: 'must be at most 64 characters' })
    .regex(/^[a-z_]+(?:\.[a-z_]*)?$/, {
      error: 'must be an action such as secret.list, or a prefix such as secret.',
    })
    .exactOptional(),
  actor: uuid.exactOptional(),
  actorType: actorType.exactOptional(),
  since: timestamp.exactOptional(),
  /** Default: `limits.auditPageSize`. This list always has pages. */
  limit: integerText(1, limits.pageSize).exactOptional(),
  cursor: z.string().exactOptional(),
});

/** In an entry of the reads of several SecretSyncs: one of them, with the request of its read. */
const auditedSecretSync = z
  .strictObject({
    /** `namespace/name` */
    name: z.string(),
    uid: z.guid(),
    source: z.string().exactOptional(),
    requestId: z.guid(),
  })
  .meta({ id: 'AuditedSecretSync' });

const targetValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.string()),
  z.array(auditedSecretSync),
]);

export const auditEntryView = z
  .strictObject({
    id: z.string(),
    at: z.iso.datetime(),
    actor: z.strictObject({ type: actorType, id: z.guid(), name: z.string() }),
    action: z.string(),
    /** Slugs, keys, ids and numbers of the target; never a value. */
    target: z.record(z.string(), targetValue),
    outcome: z.enum(['success', 'denied', 'failed']),
    /** Of the first read, for an entry of several. */
    requestId: z.guid(),
    sourceAddress: z.string().nullable(),
    /** `[Service Token]` for actions of service tokens and actions on them. */
    label: z.string().nullable(),
    /** The presented token; null for custom resources, for the server and for older entries. */
    credential: z.strictObject({ id: z.guid(), createdBy: tokenCreatorView }).nullable(),
    /** Or of the SecretSync that read with the token. */
    cluster: vouchingCluster,
  })
  .meta({ id: 'AuditEntry' });

export const auditListView = z
  .strictObject({ entries: z.array(auditEntryView), nextCursor: z.string().nullable() })
  .meta({ id: 'AuditEntryList' });

export type AuditEntryView = z.infer<typeof auditEntryView>;
