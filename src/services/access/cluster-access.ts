import type { Asker } from '../../domain/asker.ts';
import type { GrantRule } from '../../domain/grants.ts';
import { type KeylessPrincipal, type ResourceCaller, resourceName } from '../../domain/principal.ts';
import type { KeylessTarget, KeylessToken } from '../../store/keyless-tokens.ts';

/** The only place that makes principals of what a cluster vouches for. */

/** A cluster whose controller asks. */
export interface AskingCluster {
  readonly cluster: string;
  /** Where the request came from; null for the controller of this process. */
  readonly sourceAddress: string | null;
}

/** One source of one SecretSync. Its cluster vouches for all of it. */
export interface SyncReader extends AskingCluster {
  readonly namespace: string;
  /** Of the SecretSync. */
  readonly name: string;
  readonly uid: string;
  /** The name of the source. */
  readonly source: string | undefined;
  /** What the namespace is granted, read again at each judgement: a getter reports a withdrawal in between. */
  readonly grants: readonly GrantRule[];
  /** Name of an AccessGrant that is for the namespace alone and takes another rule, if there is one. For messages. */
  readonly ownGrant: string | undefined;
  readonly requestId: string;
}

/** A source of the SecretSync that asks. Each read of its grants is one of the asker's. */
export function syncReader(
  { cluster, sourceAddress }: AskingCluster,
  asker: Asker<'SecretSync'>,
  source: string | undefined,
): SyncReader {
  const { namespace, name, uid, requestId } = asker;
  return {
    cluster,
    sourceAddress,
    namespace: namespace ?? '',
    name,
    uid,
    source,
    get grants() {
      return asker.grants;
    },
    get ownGrant() {
      return asker.ownGrant;
    },
    requestId,
  };
}

/** The keyless token of the reader's namespace. */
export function keylessPrincipal(
  { cluster, namespace }: SyncReader,
  { organizationId, projectId, environmentId }: KeylessTarget,
  { id, name }: KeylessToken,
): KeylessPrincipal {
  return {
    type: 'service_token',
    id,
    name,
    isKeyless: true,
    organizationId,
    scope: 'environment',
    projectId,
    environmentId,
    permission: 'read',
    claim: { cluster, namespace },
  };
}

/** The principal of a custom resource. Each read of its grants is one of the asker's. */
export function resourceCaller({ cluster, sourceAddress }: AskingCluster, asker: Asker): ResourceCaller {
  const { kind, namespace, uid, requestId } = asker;
  return {
    principal: {
      type: 'resource',
      id: uid,
      name: resourceName(asker),
      cluster,
      kind,
      namespace,
      get grants() {
        return asker.grants;
      },
      get ownGrant() {
        return asker.ownGrant;
      },
    },
    requestId,
    sourceAddress,
  };
}
