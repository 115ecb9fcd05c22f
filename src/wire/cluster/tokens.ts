import { z } from 'zod';
import { limits } from '../../domain/limits.ts';
import type {
  AllowedPlace,
  FederateInput,
  LiveToken,
  LiveTokensAsked,
  LiveTokensPage,
  MintedToken,
  MintInput,
  MovedExpiry,
  ResourceCredential,
  ResourceToken,
  TokenOrGone,
} from '../../domain/resources/tokens.ts';
import { namespaceName, seenRules, tokenPermission } from './asker.ts';
import { boundedText, codecOf, count, date, id, plaintext, strict } from './codec.ts';

/** The service tokens of ServiceTokens. */

// As many namespaces as Kubernetes recommends for one cluster.
const maxAskedNamespaces = 10_000;
const maxSerials = 1_000;

const mintShape = { name: boundedText(), expiresAt: date.nullable(), serial: count };
export const mintInput = codecOf<MintInput>()(strict(mintShape));
export const federateInput = codecOf<FederateInput>()(
  strict({ ...mintShape, serviceAccountNames: z.array(boundedText()).max(limits.serviceAccountsPerToken) }),
);

export const movedExpiries = codecOf<readonly MovedExpiry[]>()(
  z.array(strict({ serial: count, expiresAt: date.nullable() })).max(maxSerials),
);

export const suspensionCause = z.enum(['grant_gone', 'resource_gone', 'cluster_refused']);

export const liveTokensAsked = codecOf<LiveTokensAsked>()(
  strict({ namespaces: z.array(namespaceName).max(maxAskedNamespaces).nullable(), after: id.nullable() }),
);

const credential = codecOf<ResourceCredential>()(
  z.object({
    serial: count,
    audience: z.string().nullable(),
    state: z.enum(['pending', 'active']),
    createdAt: date,
    expiresAt: date.nullable(),
    revokedAt: date.nullable(),
    firstUsedAt: date.nullable(),
    lastUsedAt: date.nullable(),
  }),
);

const placeIds = {
  organizationId: z.string(),
  projectId: z.string().nullable(),
  environmentId: z.string().nullable(),
};

const resourceToken = codecOf<ResourceToken>()(
  z.object({
    ...placeIds,
    tokenId: z.string(),
    permission: tokenPermission,
    suspendedAt: date.nullable(),
    revokedAt: date.nullable(),
    credentials: z.array(credential),
  }),
);

export const tokenOrGone = codecOf<TokenOrGone>()(z.union([z.literal('gone'), resourceToken]));

export const allowedPlace = codecOf<AllowedPlace>()(z.object({ ...placeIds, clusterRules: seenRules }));

export const mintedToken = codecOf<MintedToken>()(z.object({ tokenId: z.string(), serial: count, token: plaintext }));

const liveToken = codecOf<LiveToken>()(
  z.object({
    uid: z.string(),
    namespace: z.string(),
    name: z.string(),
    organization: z.string(),
    project: z.string().nullable(),
    environment: z.string().nullable(),
    permission: tokenPermission,
  }),
);

export const liveTokensPage = codecOf<LiveTokensPage>()(
  z.object({ tokens: z.array(liveToken), next: z.string().nullable() }),
);
