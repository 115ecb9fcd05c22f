import { z } from 'zod';
import { grantedKinds } from '../domain/kinds.ts';
import { limits } from '../domain/limits.ts';
import { validateSlug } from '../domain/names.ts';
import { booleanText, clusterName, expectedVersion, integerText } from './fields.ts';

/** docs/interface.md 4.18: what an organization allows clusters. */

const slugOrAll = z
  .string()
  .refine((text) => text === '*' || validateSlug(text) === undefined, { error: 'must be a slug, or "*" for all' })
  .meta({ pattern: String.raw`^(\*|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)$` });

/** A rule of an AccessGrant, without the organization. The service checks what its fields may be together. */
const clusterRule = z
  .strictObject({
    project: slugOrAll,
    environments: z
      .array(slugOrAll)
      .min(1)
      .max(limits.environmentsPerClusterRule)
      .meta({ description: 'Slugs, or "*" alone for all; "*" if project is "*".' }),
    permission: z.enum(['read', 'read_write']),
    kinds: z.array(z.enum(grantedKinds)).min(1).max(grantedKinds.length),
  })
  .meta({ id: 'ClusterRule' });

export const clusterParams = z.strictObject({ name: clusterName.meta({ description: 'Name of a cluster.' }) });

export const setClusterRulesBody = z.strictObject({
  rules: z.array(clusterRule).max(limits.rulesPerCluster),
  /** The `version` that the rules must be at; 0 if the organization never set any. */
  expectedVersion: expectedVersion.exactOptional(),
});

export const removeClusterRulesQuery = z.strictObject({
  expectedVersion: integerText(0).exactOptional().meta({ description: 'The `version` that the rules must be at.' }),
});

export const clusterRulesView = z
  .strictObject({
    name: z.string(),
    /** Whether a cluster without rules may do what its AccessGrants allow. Any other one may do nothing without rules. */
    isHome: z.boolean(),
    /** Null if the organization set none. */
    rules: z.array(clusterRule).nullable(),
    /** Counts the changes of the rules; 0 if there never were any. */
    version: z.int(),
  })
  .meta({ id: 'ClusterRules' });

export const clusterRulesListView = z
  .strictObject({ clusters: z.array(clusterRulesView), nextCursor: z.string().nullable() })
  .meta({ id: 'ClusterRulesList' });

/** docs/interface.md 4.18: the clusters of the instance, for instance admins. */
export const clusterView = z
  .strictObject({
    name: z.string(),
    isHome: z.boolean(),
    /** Nothing is done for a cluster that is disabled or forgotten. */
    state: z.enum(['enabled', 'disabled', 'forgotten']),
    /** The uid of its namespace kube-system; null before a controller of it has led. */
    uid: z.string().nullable(),
    /** When a controller of it last said that it leads; null if none did. */
    seenAt: z.iso.datetime().nullable(),
    disabledAt: z.iso.datetime().nullable(),
    /** What its leading controller last said of itself; null if none led, or only one that does not say it. */
    controller: z
      .strictObject({
        /** Compare it with `serverVersion` of `/me`. */
        release: z.string(),
        /** The first and the last number of the protocol that it knows. */
        protocol: z.strictObject({ min: z.int(), max: z.int() }),
        /** The kinds of custom resources that it reconciles. */
        kinds: z.array(z.string()),
      })
      .nullable(),
    /**
     * Who signs the tokens of its ServiceAccounts, as its controller last said, and with how many keys that verify here;
     * null if it never said it.
     */
    issuer: z.strictObject({ iss: z.string(), keyCount: z.int() }).nullable(),
  })
  .meta({ id: 'Cluster' });

export const clusterListView = z
  .strictObject({ clusters: z.array(clusterView), nextCursor: z.string().nullable() })
  .meta({ id: 'ClusterList' });

export const forgetClusterQuery = z.strictObject({
  plan: booleanText.exactOptional().meta({ description: 'Whether only to list what the cluster has.' }),
});

export const forgottenClusterView = z
  .strictObject({
    /** The Secrets of its SecretSyncs, which stay behind in the cluster; at most 1,000. */
    secrets: z.array(z.strictObject({ namespace: z.string(), name: z.string() })),
    secretCount: z.int(),
    /** Its tokens that were not revoked before; at most 1,000. */
    tokens: z.array(z.strictObject({ organization: z.string(), id: z.guid(), name: z.string() })),
    tokenCount: z.int(),
  })
  .meta({ id: 'ForgottenCluster' });

export type ClusterView = z.infer<typeof clusterView>;
export type ForgottenClusterView = z.infer<typeof forgottenClusterView>;
export type ClusterRulesView = z.infer<typeof clusterRulesView>;
