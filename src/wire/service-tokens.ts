import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { name, timestamp, uuid } from './fields.ts';

/** docs/interface.md 4.4 and 4.8: making, listing and revoking service tokens. */

const scope = z.enum(['organization', 'project', 'environment']);
const permission = z.enum(['read', 'read_write']);

export const serviceTokenParams = z.strictObject({ id: uuid });

/** Which of the ids a scope needs is the service's to judge: only it knows whether they exist. */
export const createServiceTokenBody = z.strictObject({
  name,
  scope,
  projectId: uuid.exactOptional(),
  environmentId: uuid.exactOptional(),
  permission,
  expiresInDays: z.int().min(1).max(limits.tokenLifetimeDays).exactOptional(),
  expiresAt: timestamp.exactOptional(),
});

/** The body may be absent. */
export const rotateServiceTokenBody = z
  .strictObject({
    /** How long the value before stays good beside the new one. */
    overlapSeconds: z.int().min(0).max(limits.tokenOverlapSeconds).exactOptional(),
  })
  .optional();

const serviceTokenFields = {
  id: z.guid(),
  organizationId: z.guid(),
  name: z.string(),
  scope,
  /** The project of project and environment scope. */
  projectId: z.guid().nullable(),
  /** The environment of environment scope. */
  environmentId: z.guid().nullable(),
  permission,
  createdBy: z.guid(),
  createdByType: z.enum(['user', 'service_token', 'resource', 'system']),
  createdByName: z.string(),
  /** The cluster of the custom resource that it belongs to (KEYFRAME_CLUSTER_NAME); null for any other token. */
  cluster: z.string().nullable(),
  /**
   * The namespace whose SecretSyncs the controller of a cluster reads for, if it is a keyless token, which has no value;
   * null for any other token.
   */
  holder: z.strictObject({ cluster: z.string(), namespace: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  /** Set while a token of a custom resource opens nothing, because its AccessGrant is withdrawn. */
  suspendedAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
};

export const serviceTokenView = z.strictObject(serviceTokenFields);
/** The token itself is in this one answer and never again. */
export const createdServiceTokenView = z.strictObject({ ...serviceTokenFields, token: z.string() });
export const serviceTokenListView = z.strictObject({
  serviceTokens: z.array(serviceTokenView),
  nextCursor: z.string().nullable(),
});

export type ServiceTokenView = z.infer<typeof serviceTokenView>;
export type CreatedServiceTokenView = z.infer<typeof createdServiceTokenView>;
export type ServiceTokenListView = z.infer<typeof serviceTokenListView>;
