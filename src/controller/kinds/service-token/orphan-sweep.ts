import { randomUUID } from 'node:crypto';
import type { Asker } from '../../../domain/asker.ts';
import { covers } from '../../../domain/grants.ts';
import { resourceName } from '../../../domain/principal.ts';
import type { LiveToken, SuspensionCause } from '../../../domain/resources/tokens.ts';
import { isApiStatus } from '../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import { listResources } from '../../../kube/client/custom-resources.ts';
import { serviceTokenKind } from '../../../kube/client/keyframe-kinds.ts';
import type { KubeObject } from '../../../kube/client/objects.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { TokensBackend } from '../../backend/tokens.ts';
import type { GrantIndex } from '../access-grant/grant-index.ts';
import type { Namespaces } from '../../frame/namespaces.ts';
import { isAbandoned } from './resource.ts';
import { namespacesUnlisted, orphanSuspended, sharedName } from './messages.ts';

export interface OrphanSweepDeps {
  readonly backend: { readonly tokens: Pick<TokensBackend, 'live' | 'suspend'> };
  readonly client: Pick<KubeClient, 'request'>;
  readonly grants: Pick<GrantIndex, 'rulesFor' | 'isSynced'>;
  readonly namespaces: Pick<Namespaces, 'find'>;
  /** Whether no other cluster has this name. Throws DomainError store_unavailable. */
  readonly hasName: () => Promise<boolean>;
  /** The uids of the ServiceTokens in the watch whose reconciles handle their tokens. */
  readonly knownUids: () => Iterable<string>;
  readonly metrics: Pick<Metrics, 'orphanedTokenSuspended'>;
  readonly logger: Logger;
}

type OrphanCause = Exclude<SuspensionCause, 'cluster_refused'>;

// A log line names no more namespaces than this.
const maxNamedNamespaces = 20;

/**
 * Suspends the tokens that no reconcile handles: those whose ServiceToken was deleted without its finalizer, and those
 * that no AccessGrant covers in namespaces that are not watched. A token is suspended for a missing ServiceToken only if
 * the API server itself shows that there is none, or that it is abandoned. If a ServiceToken comes back with the same
 * uid, its reconcile resumes the token.
 */
export class OrphanSweep {
  readonly #deps: OrphanSweepDeps;
  /** The uids whose tokens were suspended because their ServiceToken is gone. */
  readonly #suspended = new Set<string>();
  /** The namespaces that were last reported as unlisted. */
  #reported = '';

  constructor(deps: OrphanSweepDeps) {
    this.#deps = deps;
  }

  /** Runs one sweep. Throws DomainError and ApiError; the next sweep does the rest. */
  async run(): Promise<void> {
    // A controller of another cluster with the same name would take all tokens of this cluster for orphans.
    if (!(await this.#deps.hasName())) return;
    const requestId = randomUUID();
    const unlisted = new Map<string, number>();
    for (const [namespace, tokens] of await this.#unattended(null)) {
      const present = await this.#presentIn(namespace);
      if (present === undefined) unlisted.set(namespace, tokens.length);
      for (const token of tokens) await this.#judge(token, present, requestId);
    }
    this.#report(unlisted);
  }

  /**
   * Judges the tokens of these namespaces by their grants alone, however new they are: a grant that is missing ends each of
   * them, whether its ServiceToken exists or not. Throws as `run` does.
   */
  async judgeGrants(namespaces: readonly string[]): Promise<void> {
    if (!(await this.#deps.hasName())) return;
    const requestId = randomUUID();
    const unattended = await this.#unattended(namespaces);
    for (const token of [...unattended.values()].flat()) await this.#judge(token, undefined, requestId);
  }

  async #judge(token: LiveToken, present: ReadonlySet<string> | undefined, requestId: string): Promise<void> {
    const cause = this.#causeOf(token, present);
    if (cause !== undefined) await this.#suspend(token, cause, requestId);
  }

  /** The live tokens of this cluster that no reconcile handles, by namespace; see `TokensBackend.live`. */
  async #unattended(namespaces: readonly string[] | null): Promise<Map<string, LiveToken[]>> {
    const { backend, knownUids } = this.#deps;
    const known = new Set(knownUids());
    for (const uid of known) this.#suspended.delete(uid);
    const byNamespace = new Map<string, LiveToken[]>();
    let after: string | null = null;
    do {
      const { tokens, next } = await backend.tokens.live({ namespaces, after });
      for (const token of tokens.filter(({ uid }) => !known.has(uid))) {
        const others = byNamespace.get(token.namespace) ?? [];
        byNamespace.set(token.namespace, [...others, token]);
      }
      after = next;
    } while (after !== null);
    return byNamespace;
  }

  /** The uids of the ServiceTokens in a namespace, from etcd; undefined if the API server refuses the list. */
  async #presentIn(namespace: string): Promise<ReadonlySet<string> | undefined> {
    const uids = new Set<string>();
    try {
      for await (const metadata of listResources(this.#deps.client, serviceTokenKind, namespace))
        if (!isAbandoned(metadata)) uids.add(metadata.uid);
      return uids;
    } catch (error) {
      // With watchNamespaces, the rights in a namespace are deleted with it.
      if (isApiStatus(error, 403)) return (await this.#isGone(namespace)) ? new Set() : undefined;
      // The CRD is missing, which does not prove that the ServiceToken is gone.
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

  #causeOf(token: LiveToken, present: ReadonlySet<string> | undefined): OrphanCause | undefined {
    if (present?.has(token.uid) === false) return 'resource_gone';
    const { grants } = this.#deps;
    const isCovered = !grants.isSynced || covers(grants.rulesFor(token.namespace), { ...token, kind: 'ServiceToken' });
    return isCovered ? undefined : 'grant_gone';
  }

  async #suspend(token: LiveToken, cause: OrphanCause, requestId: string): Promise<void> {
    const { backend, metrics, logger } = this.#deps;
    const { uid } = token;
    const asker = askerOf(token, requestId);
    const resource = resourceName(asker);
    if (this.#suspended.has(uid)) {
      logger.error({ resource, uid }, sharedName);
      return;
    }
    if (cause === 'resource_gone') this.#suspended.add(uid);
    if (!(await backend.tokens.suspend(asker, cause))) return;
    metrics.orphanedTokenSuspended(cause);
    logger.warn({ resource, uid, cause }, orphanSuspended);
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
    this.#deps.logger.warn({ namespaces: named, namespaceCount: namespaces.length, tokenCount }, namespacesUnlisted);
  }
}

/** The resource as the database knows it, so that the suspension is audited as its action. */
function askerOf({ uid, name, namespace }: LiveToken, requestId: string): Asker {
  return { kind: 'ServiceToken', namespace, name, uid, requestId, grants: [], ownGrant: undefined };
}
