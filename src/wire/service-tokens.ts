import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { federationInput, federationView } from './federation.ts';
import { name, timestamp, uuid } from './fields.ts';

/** docs/interface.md 4.4 and 4.8: creating, listing and revoking service tokens. */

const scope = z.enum(['organization', 'project', 'environment']);
const permission = z.enum(['read', 'read_write']);

export const serviceTokenParams = z.strictObject({ id: uuid });

/** The service checks the ids that a scope requires, because it knows whether they exist. */
export const createServiceTokenBody = z.strictObject({
  name,
  scope,
  projectId: uuid.exactOptional(),
  environmentId: uuid.exactOptional(),
  permission,
  expiresInDays: z.int().min(1).max(limits.tokenLifetimeDays).exactOptional(),
  expiresAt: timestamp.exactOptional(),
  /** For a token without a value, which JWTs of a trusted issuer prove. */
  federation: federationInput.exactOptional(),
});

/** The body may be absent. */
export const rotateServiceTokenBody = z
  .strictObject({
    /** How long the previous value stays valid. */
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
  /** The cluster of the custom resource that owns the token (KEYFRAME_CLUSTER_NAME); null for other tokens. */
  cluster: z.string().nullable(),
  /**
   * For a keyless token, which has no value: the namespace whose SecretSyncs it reads for. Null for other tokens.
   */
  holder: z.strictObject({ cluster: z.string(), namespace: z.string() }).nullable(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  /** Set while a token of a custom resource is suspended, because its AccessGrant was withdrawn, or its cluster may not use it. */
  suspendedAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
};

export const serviceTokenView = z
  .strictObject({
    ...serviceTokenFields,
    /** What proves the token; absent for a token that is not federated. */
    federation: federationView.exactOptional(),
  })
  .meta({ id: 'ServiceToken' });
/** Only this response contains the token. */
export const createdServiceTokenView = z
  .strictObject({ ...serviceTokenFields, token: z.string() })
  .meta({ id: 'CreatedServiceToken' });
/** A new federated token, which has no value. */
export const createdFederatedTokenView = z
  .strictObject({ ...serviceTokenFields, federation: federationView })
  .meta({ id: 'CreatedFederatedToken' });
export const newServiceTokenView = z
  .union([createdServiceTokenView, createdFederatedTokenView])
  .meta({ id: 'NewServiceToken' });
export const serviceTokenListView = z
  .strictObject({
    serviceTokens: z.array(serviceTokenView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'ServiceTokenList' });

export type ServiceTokenView = z.infer<typeof serviceTokenView>;
export type NewServiceTokenView = z.infer<typeof newServiceTokenView>;
export type CreatedServiceTokenView = z.infer<typeof createdServiceTokenView>;
export type ServiceTokenListView = z.infer<typeof serviceTokenListView>;
