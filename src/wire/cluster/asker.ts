import { z } from 'zod';
import type { Asker } from '../../domain/asker.ts';
import type { SeenRules } from '../../domain/cluster-ceiling.ts';
import type { AskedPlace, GrantRule } from '../../domain/grants.ts';
import { grantedKinds, type ResourceKindName } from '../../domain/kinds.ts';
import { isDnsLabel, isDnsName } from '../../domain/kubernetes-names.ts';
import { limits } from '../../domain/limits.ts';
import type { EnvironmentPlace, EnvironmentSlugs } from '../../domain/slugs.ts';
import { boundedText, codecOf, count, id, strict } from './codec.ts';

/** Who asks, and where. The services say what is wrong with slugs, because users write them. */

const permission = z.enum(['read', 'read_write']);

export const namespaceName = z.string().refine(isDnsLabel, 'must be the name of a namespace');
export const objectName = z.string().refine(isDnsName, 'must be the name of a resource');

const grantRule = codecOf<GrantRule>()(
  strict({
    organization: boundedText(limits.slugLength),
    project: boundedText(limits.slugLength),
    environments: z.array(boundedText(limits.slugLength)).max(limits.environmentsPerClusterRule),
    permission,
    kinds: z.array(z.enum([...grantedKinds, 'SecretEnvironment'])).max(grantedKinds.length + 1),
  }),
);

/** AccessGrants of a namespace have more rules only if there are dozens of the largest. */
const maxGrantRules = 2_000;

/** What a namespace is granted. */
export interface NamespaceGrants extends Pick<Asker, 'grants'> {
  readonly ownGrant?: string | undefined;
}

const grantsShape = { grants: z.array(grantRule).max(maxGrantRules), ownGrant: objectName.optional() };
export const namespaceGrants = codecOf<NamespaceGrants & { readonly namespace: string }>()(
  strict({ namespace: namespaceName, ...grantsShape }),
);

const resourceKinds = [
  'ServiceToken',
  'SecretSnapshot',
  'SnapshotRestore',
  'SnapshotSchedule',
  'SecretEnvironment',
] as const satisfies readonly ResourceKindName[];

const askerShape = {
  kind: z.enum(resourceKinds),
  namespace: namespaceName.nullable(),
  name: objectName,
  uid: id,
  requestId: id,
};

/** A resource with what its namespace is granted. */
export const asker = codecOf<Asker>()(
  strict({ ...askerShape, ...grantsShape }).refine(
    isInItsScope,
    'must be of a kind that is in a namespace, or SecretEnvironment without one',
  ),
);

type Named = Omit<Asker, 'grants' | 'ownGrant'>;

const namedAsker = strict(askerShape).refine(
  isInItsScope,
  'must be of a kind that is in a namespace, or SecretEnvironment without one',
);

/** A resource that needs no grant, because it asks for what it owns. */
export const owner = codecOf<Asker>()(
  z.codec(namedAsker, z.custom<Asker>(), {
    decode: (named) => ({ ...named, grants: [], ownGrant: undefined }),
    encode: ({ kind, namespace, name, uid, requestId }): Named => ({ kind, namespace, name, uid, requestId }),
  }),
);

export type SyncAsker = Asker<'SecretSync'>;

const syncShape = { namespace: namespaceName, name: objectName, uid: id, requestId: id };

/** A SecretSync, without the grants of its namespace. */
export const namedSync = strict(syncShape);

/** A SecretSync with what its namespace is granted; without, if no source needs a grant. */
export const syncAsker = codecOf<SyncAsker>()(
  z.codec(strict({ ...syncShape, ...grantsShape, grants: grantsShape.grants.optional() }), z.custom<SyncAsker>(), {
    decode: ({ grants = [], ownGrant, ...named }): SyncAsker => ({ kind: 'SecretSync', ...named, grants, ownGrant }),
    encode: ({ namespace, name, uid, requestId, grants, ownGrant }) => ({
      namespace: namespace ?? '',
      name,
      uid,
      requestId,
      grants: [...grants],
      ownGrant,
    }),
  }),
);

function isInItsScope({ kind, namespace }: Pick<Asker, 'kind' | 'namespace'>): boolean {
  return (kind === 'SecretEnvironment') === (namespace === null);
}

const slug = boundedText();

export const environmentSlugs = codecOf<EnvironmentSlugs>()(
  strict({ organization: slug, project: slug, environment: slug }),
);

export const askedPlace = codecOf<AskedPlace>()(
  strict({ organization: slug, project: slug.nullable(), environment: slug.nullable(), permission }),
);

export const environmentPlace = codecOf<EnvironmentPlace>()(
  z.object({ organization: z.string(), project: z.string(), environment: z.string(), environmentId: z.string() }),
);

export const seenRules = codecOf<SeenRules>()(z.object({ organizationId: z.string(), version: count }));

export { permission as tokenPermission };
