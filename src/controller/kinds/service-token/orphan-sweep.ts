import { randomUUID } from 'node:crypto';
import { covers } from '../../../domain/grants.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import { isApiStatus } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { listResources } from '../../../kube/client/custom-resources.ts';
import { serviceTokenKind } from '../../../kube/client/keyframe-kinds.ts';
import type { KubeObject } from '../../../kube/client/objects.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { ResourceAccess } from '../../../services/managed/access.ts';
import type { LiveToken, ResourceTokens, SuspensionCause } from '../../../services/managed/tokens.ts';
import type { GrantIndex } from '../access-grant/grant-index.ts';
import type { Namespaces } from '../../frame/namespaces.ts';

export interface OrphanSweepDeps {
  readonly services: {
    readonly resourceAccess: Pick<ResourceAccess, 'owner'>;
    readonly resourceTokens: Pick<ResourceTokens, 'live' | 'suspend'>;
  };
  readonly client: Pick<KubeClient, 'request'>;
  readonly grants: Pick<GrantIndex, 'rulesFor' | 'isSynced'>;
  readonly namespaces: Pick<Namespaces, 'find'>;
  /** What the database knows the cluster by. Throws DomainError cluster_unavailable if that is not known. */
  readonly cluster: () => string;
  /** Whether no other cluster is known by that. Throws DomainError store_unavailable. */
  readonly hasName: () => Promise<boolean>;
  /** The uids of the ServiceTokens that the watch shows: their reconciles look after their tokens. */
  readonly knownUids: () => Iterable<string>;
  readonly metrics: Pick<Metrics, 'orphanedTokenSuspended'>;
  readonly logger: Logger;
}

// A log line names no more namespaces than this.
const maxNamedNamespaces = 20;

/**
 * Suspends the tokens that no reconcile looks after: those whose ServiceToken is gone without its finalizer having
 * revoked them, and those that no AccessGrant covers in namespaces that are not watched. A token is suspended for a
 * missing ServiceToken only if the API server itself shows that there is none. A ServiceToken that comes back with the
 * same uid has its token resumed by its reconcile.
 */
export class OrphanSweep {
  readonly #deps: OrphanSweepDeps;
  /** The uids whose tokens were suspended because their ServiceToken is gone. */
  readonly #suspended = new Set<string>();
  /** What was last reported of the namespaces that cannot be listed. */
  #reported = '';

  constructor(deps: OrphanSweepDeps) {
    this.#deps = deps;
  }

  /** One sweep. Throws DomainError and ApiError; what was not reached is reached by the next one. */
  async run(): Promise<void> {
    // To another cluster of the same name, all tokens of this one would be orphans.
    if (!(await this.#deps.hasName())) return;
    const requestId = randomUUID();
    const unlisted = new Map<string, number>();
    for (const [namespace, tokens] of await this.#unattended()) {
      const present = await this.#presentIn(namespace);
      if (present === undefined) unlisted.set(namespace, tokens.length);
      for (const token of tokens) {
        const cause = this.#causeOf(token, present);
        if (cause !== undefined) await this.#suspend(token, cause, requestId);
      }
    }
    this.#report(unlisted);
  }

  /** The live tokens of this cluster whose ServiceTokens the watch does not show, by namespace. */
  async #unattended(): Promise<Map<string, LiveToken[]>> {
    const { services, cluster, knownUids } = this.#deps;
    const known = new Set(knownUids());
    for (const uid of known) this.#suspended.delete(uid);
    const byNamespace = new Map<string, LiveToken[]>();
    for await (const token of services.resourceTokens.live(cluster())) {
      if (known.has(token.uid)) continue;
      const others = byNamespace.get(token.namespace) ?? [];
      byNamespace.set(token.namespace, [...others, token]);
    }
    return byNamespace;
  }

  /** The uids of the ServiceTokens in a namespace, as etcd has them; undefined if the API server does not show them. */
  async #presentIn(namespace: string): Promise<ReadonlySet<string> | undefined> {
    const uids = new Set<string>();
    try {
      for await (const { uid } of listResources(this.#deps.client, serviceTokenKind, namespace)) uids.add(uid);
      return uids;
    } catch (error) {
      // With watchNamespaces, the rights in a namespace end with it.
      if (isApiStatus(error, 403)) return (await this.#isGone(namespace)) ? new Set() : undefined;
      // A cluster without the definition shows nothing: that proves nothing.
      if (isApiStatus(error, 404)) return undefined;
      throw error;
    }
  }

  async #isGone(namespace: string): Promise<boolean> {
    if (this.#deps.namespaces.find(namespace) !== undefined) return false;
    const { items } = await this.#deps.client.request<{ readonly items?: readonly KubeObject[] | null }>({
      method: 'GET',
      path: '/api/v1/namespaces',
      query: { fieldSelector: `metadata.name=${namespace}` },
    });
    return (items ?? []).length === 0;
  }

  #causeOf(token: LiveToken, present: ReadonlySet<string> | undefined): SuspensionCause | undefined {
    if (present?.has(token.uid) === false) return 'resource_gone';
    const { grants } = this.#deps;
    const isCovered = !grants.isSynced || covers(grants.rulesFor(token.namespace), { ...token, kind: 'ServiceToken' });
    return isCovered ? undefined : 'grant_gone';
  }

  async #suspend(token: LiveToken, cause: SuspensionCause, requestId: string): Promise<void> {
    const { services, metrics, logger } = this.#deps;
    const { uid, name: resource } = token;
    if (this.#suspended.has(uid)) {
      logger.error({ resource, uid }, sharedNameMessage);
      return;
    }
    if (cause === 'resource_gone') this.#suspended.add(uid);
    const { resourceAccess, resourceTokens } = services;
    const access = await resourceAccess.owner(this.#callerOf(token, requestId), 'service_token.suspend');
    if (!(await resourceTokens.suspend(access, cause))) return;
    metrics.orphanedTokenSuspended(cause);
    logger.warn({ resource, uid, cause }, 'a token was suspended that no ServiceToken and grant stand for any more');
  }

  /** The resource as the database knows it: what is done is audited as its own. */
  #callerOf({ uid, name, namespace }: LiveToken, requestId: string): ResourceCaller {
    return {
      principal: {
        type: 'resource',
        id: uid,
        name,
        cluster: this.#deps.cluster(),
        kind: 'ServiceToken',
        namespace,
        grants: [],
      },
      requestId,
      sourceAddress: null,
    };
  }

  /** Logs the namespaces that cannot be listed, once for each set of them. */
  #report(unlisted: ReadonlyMap<string, number>): void {
    const namespaces = [...unlisted.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    const about = namespaces.join(',');
    if (about === this.#reported) return;
    this.#reported = about;
    if (namespaces.length === 0) return;
    const tokenCount = [...unlisted.values()].reduce((sum, count) => sum + count, 0);
    const named = namespaces.slice(0, maxNamedNamespaces);
    this.#deps.logger.warn({ namespaces: named, namespaceCount: namespaces.length, tokenCount }, unlistedMessage);
  }
}

const sharedNameMessage =
  'a token is live again although it was suspended because its ServiceToken is gone: another controller serves it. ' +
  'It is left alone. Two clusters on one database need different values of KEYFRAME_CLUSTER_NAME';
const unlistedMessage =
  'the controller may not list the ServiceTokens of these namespaces, so live tokens there are judged by AccessGrants ' +
  'alone, and a token whose ServiceToken was deleted stays live. Watch the namespaces, or revoke the tokens with ' +
  '`keyframe token revoke-service`';
