import { z } from 'zod';
import { validateClusterUid, validateSubject } from '../domain/cluster-registration.ts';
import { grantedKinds } from '../domain/kinds.ts';
import { limits } from '../domain/limits.ts';
import { validateSlug } from '../domain/names.ts';
import { issuerAlgorithms } from '../domain/trusted-issuers.ts';
import { booleanText, clusterName, expectedVersion, integerText, text as checkedText } from './fields.ts';
import { issuerFields } from './trusted-issuers.ts';

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
    /** Of a remote cluster: counts the changes of its issuer and keys by instance admins; null for a home cluster. */
    generation: z.int().nullable(),
    /** The generation that the organization accepted, when it last set rules. */
    acceptedGeneration: z.int().nullable(),
    /**
     * Whether the rules allow nothing: the organization forbids impersonation, and has not accepted the present generation.
     * Setting the same rules again accepts it.
     */
    isOutdated: z.boolean(),
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
    /** How the controller of a remote cluster proves that it is of this cluster; null for a home cluster. */
    registration: z
      .strictObject({
        /** The claim `sub` of the ServiceAccount token of its controller. */
        subject: z.string(),
        /** The only audience of that token. */
        audience: z.string(),
        /** The only uid of a namespace kube-system that has the name; null until its controller has led. */
        uid: z.string().nullable(),
        /** Where the public keys are fetched; null for keys that were given, which never change by themselves. */
        jwksUrl: z.string().nullable(),
        /** When the keys were last fetched; null before, and for keys that were given. */
        fetchedAt: z.iso.datetime().nullable(),
        algorithms: z.array(z.enum(issuerAlgorithms)),
        /** Counts the changes after which other tokens may prove the cluster, from 1. */
        generation: z.int(),
        /** Counts the changes, from 1. */
        version: z.int(),
      })
      .nullable(),
  })
  .meta({ id: 'Cluster' });

export const registerClusterBody = z.strictObject({
  ...issuerFields,
  subject: checkedText(validateSubject).meta({
    pattern: '^system:serviceaccount:[^:]+:[^:]+$',
    description: 'The claim `sub` of the ServiceAccount token of its controller.',
  }),
  /** Of its namespace kube-system. Null lets its next leading controller give it; absent leaves it as it is. */
  uid: checkedText(validateClusterUid).meta({ pattern: '^[0-9A-Za-z][0-9A-Za-z-]{0,63}$' }).nullable().exactOptional(),
  /** Whether a home cluster may become a remote one, which may do only what organizations allow it. */
  fromHome: z.boolean().exactOptional(),
  /** The `version` of the registration; 0 if the cluster must not be registered. */
  expectedVersion: expectedVersion.exactOptional(),
});

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
