import { LRUCache } from 'lru-cache';
import { FakeRules } from './fake-rules.ts';
import type { Backend } from '../../../src/controller/backend/backend.ts';
import type { WaitingRestoresBackend } from '../../../src/controller/backend/fleet.ts';
import type { ReportedPage } from '../../../src/domain/fleet.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { requireSyncGrant } from '../../../src/domain/grant-refusal.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { BearerPrincipal, Caller, TenantPrincipal } from '../../../src/domain/principal.ts';
import type { ChangeEvent, ChangeSubscriber } from '../../../src/domain/changes.ts';
import { sha256 } from '../../../src/lib/digest.ts';
import type { SyncReader } from '../../../src/services/access/cluster-access.ts';
import { type KeylessAdmission, type KeylessEntry, KeylessTokenRefusal } from '../../../src/services/access/keyless.ts';
import type { EnvironmentAccess } from '../../../src/services/access/access.ts';
import type { EnvironmentSlugs } from '../../../src/domain/slugs.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';
import type { Admissions, ClusterSourcesDeps } from '../../../src/services/cluster/sources.ts';
import { FakeSyncStates } from './fake-sync-states.ts';

interface Environment {
  readonly id: string;
  revision: number;
  values: Record<string, string>;
  /** The values of each revision so far. */
  readonly history: Map<number, Record<string, string>>;
}

/** What custom resources that act in their own name ask. */
export type ResourcesBackend = Pick<Backend, 'tokens' | 'snapshots' | 'restores' | 'schedules' | 'environments'>;

/** For tests in which no custom resource acts in its own name: each use fails, but for the sweep's, which finds nothing. */
export const noResources = {
  tokens: { live: () => Promise.resolve({ tokens: [], next: null }) },
} as unknown as ResourcesBackend;

/** An event of the one organization that the tests have, without its id. */
type EventOfOne = ChangeEvent extends infer Event
  ? Event extends { readonly organizationId: string }
    ? Omit<Event, 'organizationId'>
    : Event
  : never;
type Hook = (() => void | Promise<void>) | undefined;

/** The keyless service token of a namespace and an environment. */
interface KeylessToken {
  readonly id: string;
  isRevoked: boolean;
}

/** The services as the controller calls them, over a few environments and tokens in memory. */
export class FakeServices implements Omit<ClusterSourcesDeps, 'cluster' | 'sourceAddress'> {
  /** By namespace and the environment's id. */
  readonly keylessTokens = new Map<string, KeylessToken>();
  readonly environments = new Map<string, Environment>();
  /** Who a token stands for, or why it is refused. */
  readonly tokens = new Map<string, BearerPrincipal | AuthenticationRefusal | string>();
  /** Each read of values, with who read. */
  readonly reads: { environmentId: string; caller: Caller<TenantPrincipal>; keys: readonly string[] }[] = [];
  /** Ids of revisions and snapshots that are there no more. */
  readonly gone = new Set<string>();
  /** Keys whose values of a revision were destroyed, by its id. */
  readonly destroyed = new Map<string, string[]>();
  /** What the organization allows the cluster. */
  readonly rules = new FakeRules();
  comparisons = 0;
  /** Thrown by the next comparison. */
  comparisonFault: DomainError | undefined;
  /** Called before each call of a service takes anything, and before it answers. */
  onStep: ((step: string) => void | Promise<void>) | undefined;
  /** Whether the feed has lost its connection: no event comes until `ready`. */
  isFeedLost = false;
  /** Runs once at the next read, after the values were taken and before they are answered. */
  duringRead: Hook;
  /** Likewise at the next authentication. */
  duringAuthentication: Hook;
  /** Likewise at the next look-up of an environment. */
  duringLookup: Hook;
  /** Likewise at the next comparison. */
  duringComparison: Hook;
  /** The values of each revision, by the environment's id, also of one that has ended. */
  readonly #histories = new Map<string, Environment['history']>();
  readonly #subscribers = new Set<ChangeSubscriber>();

  readonly authentication: ClusterSourcesDeps['authentication'] = {
    authenticate: async (bearer) => {
      await this.onStep?.('before authentication');
      const found = this.tokens.get(bearer ?? '') ?? 'the token is unknown';
      await this.#run('duringAuthentication');
      await this.onStep?.('after authentication');
      if (found instanceof AuthenticationRefusal) throw found;
      if (typeof found === 'string') throw new DomainError('unauthenticated', found);
      return found;
    },
  };

  readonly access: ClusterSourcesDeps['access'] = {
    environment: async (caller, action, { organization, project, environment }) => {
      const path = `${organization}/${project}/${environment}`;
      await this.onStep?.('before look-up');
      const found = this.environments.get(path);
      await this.#run('duringLookup');
      await this.onStep?.('after look-up');
      if (found === undefined || !isInScope(caller, found.id))
        throw new DomainError('not_found', `environment ${path} does not exist, or is not visible with this access`);
      this.rules.judge();
      const { id: environmentId, revision } = found;
      const revisionId = `${environmentId}-r${revision}`;
      const { seen: clusterRules } = this.rules;
      const access = { caller, action, environmentId, revision, revisionId, clusterRules };
      return access as unknown as EnvironmentAccess<typeof action>;
    },
  };

  readonly keyless = {
    admit: async (reader: SyncReader, slugs: EnvironmentSlugs): Promise<KeylessAdmission> => {
      requireSyncGrant(reader, slugs, sha256);
      const seen = await this.#lookUpKeyless(reader, slugs);
      const enter = async (): Promise<KeylessEntry> => {
        if (seen.token !== undefined) return { access: seen.access, tokenId: seen.token.id };
        const key = `${reader.namespace} ${seen.access.environmentId}`;
        await this.onStep?.('before creating a keyless token');
        if (!this.keylessTokens.has(key)) this.keylessTokens.set(key, { id: `keyless ${key}`, isRevoked: false });
        const now = await this.#lookUpKeyless(reader, slugs);
        if (now.access.environmentId !== seen.access.environmentId || now.token === undefined)
          throw new DomainError('conflict', 'the environment was replaced meanwhile');
        return { access: now.access, tokenId: now.token.id };
      };
      return { environmentId: seen.access.environmentId, enter };
    },
  } as unknown as ClusterSourcesDeps['keyless'];

  readonly secretReader: ClusterSourcesDeps['secretReader'] = {
    find: async ({ environmentId }, { revision: wanted, maxKeys, deletedSince: isAsked }) => {
      await this.onStep?.('before finding a state');
      const environment = this.#byId(environmentId);
      if (environment === undefined) throw new DomainError('not_found', 'the environment was deleted meanwhile');
      const revision = numberOf(wanted) ?? environment.revision;
      const values = environment.history.get(revision);
      if (values === undefined) throw new DomainError('not_found', `the environment has no revision ${revision}`);
      if (Object.keys(values).length > maxKeys) return { keys: Object.keys(values).length };
      const revisionId = `${environmentId}-r${revision}`;
      const destroyed = (this.destroyed.get(revisionId) ?? []).map((key) => ({ key, version: 1 }));
      const isLost = (key: string): boolean => destroyed.some((lost) => lost.key === key);
      const kept = Object.entries(values).filter(([key]) => !isLost(key));
      await this.#run('duringRead');
      await this.onStep?.('after finding a state');
      return {
        environmentId,
        revision,
        revisionId,
        secrets: kept.map(([key, value]) => ({ key, bytes: Buffer.byteLength(value) })),
        destroyed,
        deletedSince: isAsked === true ? deletedAfter(environment, revision) : [],
      };
    },
    read: async ({ environmentId, caller }, { revisionId }, keys, room) => {
      await room?.enter(keys.length);
      const values = this.#histories.get(environmentId)?.get(numberOf(revisionId) ?? 0) ?? {};
      this.reads.push({ environmentId, caller, keys });
      await this.onStep?.('after reading values');
      return await Promise.resolve(new Map(keys.map((key) => [key, new Plaintext(values[key] ?? '')])));
    },
  };

  readonly syncStates = new FakeSyncStates();
  // No test here has a SnapshotRestore.
  readonly waitingRestores = new FakeWaitingRestores();

  readonly changes: Backend['changes'] = {
    subscribe: (subscriber) => {
      this.#subscribers.add(subscriber);
      return () => void this.#subscribers.delete(subscriber);
    },
    compare: async ({ environmentIds = [], credentialIds = [], serviceTokenIds = [], keptIds = [] }) => {
      this.comparisons += 1;
      const fault = this.comparisonFault;
      this.comparisonFault = undefined;
      if (fault !== undefined) throw fault;
      const found = [...this.environments.values()].filter(({ id }) => environmentIds.includes(id));
      const live = [...this.tokens.values()].flatMap((principal) =>
        typeof principal === 'string' || principal instanceof AuthenticationRefusal ? [] : [principal.credentialId],
      );
      const present = {
        environments: new Map(found.map(({ id, revision }) => [id, `${id}-r${revision}`])),
        liveCredentials: new Set(live.filter((id) => credentialIds.includes(id))),
        liveTokens: new Set(serviceTokenIds.filter((id) => this.#isKeylessLive(id))),
        kept: new Set(keptIds.filter((id) => !this.gone.has(id) && !this.destroyed.has(id))),
        clusterState: this.rules.state,
        clusterRules: new Map([[this.rules.seen.organizationId, this.rules.seen.version]]),
      };
      await this.#run('duringComparison');
      return present;
    },
  };

  sourcesDeps(cluster: () => string): ClusterSourcesDeps {
    const { authentication, access, keyless, secretReader } = this;
    const admissions: Admissions = new LRUCache({ max: 100 });
    return { authentication, access, keyless, secretReader, cluster, sourceAddress: null, admissions };
  }

  /** Revokes or reinstates the keyless token of the namespace ns, and reports it unless it is to be missed. */
  setRevoked(environmentId: string, isRevoked: boolean, { missed = false } = {}): void {
    const key = `ns ${environmentId}`;
    const token = this.keylessTokens.get(key) ?? { id: `keyless ${key}`, isRevoked };
    token.isRevoked = isRevoked;
    this.keylessTokens.set(key, token);
    if (!missed) this.notify({ kind: 'service_token', serviceTokenId: token.id });
  }

  /** Changes what the organization allows the cluster, and reports it unless it is to be missed. */
  setRules(isAllowed: boolean, { missed = false } = {}): void {
    this.rules.set(isAllowed);
    const { version } = this.rules.seen;
    if (!missed) this.notify({ kind: 'cluster_rules', cluster: 'test', version, isNothing: !isAllowed });
  }

  setClusterState(state: 'enabled' | 'disabled'): void {
    this.rules.state = state;
    this.notify({ kind: 'cluster', cluster: 'test', state, isHome: true });
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Makes an environment without a notification. */
  create(path: string, id: string, values: Record<string, string> = {}): void {
    const history = new Map([[1, values]]);
    this.environments.set(path, { id, revision: 1, values, history });
    this.#histories.set(id, history);
  }

  /** Makes an environment and reports it. */
  appear(path: string, id: string, values: Record<string, string> = {}): void {
    this.create(path, id, values);
    this.notify({ kind: 'environment', environmentId: id, revisionId: `${id}-r1`, appeared: true });
  }

  /** Deletes an environment and reports it, unless that is to be missed. */
  end(path: string, { missed = false } = {}): void {
    const { id = '', revision = 0 } = this.environments.get(path) ?? {};
    this.environments.delete(path);
    const revisionId = `${id}-r${revision}`;
    if (!missed) this.notify({ kind: 'environment', environmentId: id, revisionId, ended: true });
  }

  /** Commits a change and notifies of it, unless it is to be missed. */
  change(path: string, values: Record<string, string>, { missed = false } = {}): void {
    const environment = this.environments.get(path);
    if (environment === undefined) throw new Error(`no environment ${path}`);
    environment.values = values;
    environment.revision += 1;
    environment.history.set(environment.revision, values);
    if (!missed)
      this.notify({
        kind: 'environment',
        environmentId: environment.id,
        revisionId: `${environment.id}-r${environment.revision}`,
      });
  }

  /** Destroys the values that a revision has of some keys, and notifies of it unless it is to be missed. */
  destroy(path: string, revision: number, keys: string[], { missed = false } = {}): void {
    const { id: environmentId, revision: newest } = this.environments.get(path) ?? { id: '', revision: 0 };
    this.destroyed.set(`${environmentId}-r${revision}`, keys);
    const revisionId = `${environmentId}-r${newest}`;
    if (!missed) this.notify({ kind: 'environment', environmentId, revisionId, destroyed: true });
  }

  notify(event: EventOfOne): void {
    if (this.isFeedLost) return;
    const complete =
      event.kind === 'user' || event.kind === 'cluster' ? event : { organizationId: 'acme-id', ...event };
    for (const subscriber of this.#subscribers) subscriber.onEvent(complete);
  }

  /** The feed is connected again. */
  ready(): void {
    this.isFeedLost = false;
    for (const subscriber of this.#subscribers) subscriber.onReady();
  }

  async #run(name: 'duringRead' | 'duringAuthentication' | 'duringLookup' | 'duringComparison'): Promise<void> {
    const hook = this[name];
    this[name] = undefined;
    await hook?.();
  }

  async #lookUpKeyless(
    { namespace, name, uid, source }: SyncReader,
    { organization, project, environment }: EnvironmentSlugs,
  ): Promise<{ readonly access: KeylessEntry['access']; readonly token: KeylessToken | undefined }> {
    const path = `${organization}/${project}/${environment}`;
    await this.onStep?.('before look-up');
    const found = this.environments.get(path);
    const token = this.keylessTokens.get(`${namespace} ${found?.id}`);
    const revision = found?.revision ?? 0;
    const isRevoked = token?.isRevoked === true;
    this.rules.judge();
    const { seen: clusterRules } = this.rules;
    await this.#run('duringLookup');
    await this.onStep?.('after look-up');
    if (found === undefined) throw new DomainError('not_found', `environment ${path} does not exist`);
    const { id: environmentId } = found;
    if (isRevoked) {
      const refused = { tokenId: token.id, environmentId };
      throw new KeylessTokenRefusal(refused, `the token of ${namespace} for ${path} was revoked`);
    }
    const principal = { type: 'service_token', isKeyless: true, id: token?.id, environmentId, name, uid, source };
    const caller = { principal };
    const revisionId = `${environmentId}-r${revision}`;
    const access = { caller, action: 'secret.list', environmentId, revision, revisionId, clusterRules };
    return { access: access as unknown as KeylessEntry['access'], token };
  }

  #isKeylessLive(id: string): boolean {
    const isLive = ([key, token]: [string, KeylessToken]): boolean =>
      token.id === id && !token.isRevoked && this.#byId(key.split(' ')[1] ?? '') !== undefined;
    return [...this.keylessTokens].some(isLive);
  }

  #byId(id: string): Environment | undefined {
    return [...this.environments.values()].find((environment) => environment.id === id);
  }
}

/** A service token's principal that may read. */
export function serviceToken(id: string, expiresAt: Date | null = null): BearerPrincipal {
  return {
    type: 'service_token',
    id,
    name: id,
    organizationId: 'o',
    scope: 'organization',
    projectId: null,
    environmentId: null,
    permission: 'read',
    credentialId: `credential-${id}`,
    expiresAt,
  };
}

/** Whether a token of one environment alone is for this one. */
function isInScope({ principal }: Caller, id: string): boolean {
  return principal.type !== 'service_token' || principal.environmentId === null || principal.environmentId === id;
}

/** The number of a revision that is asked for by its number or its id. */
function numberOf(revision: number | string | undefined): number | undefined {
  return typeof revision === 'string' ? Number(/-r([0-9]+)$/.exec(revision)?.[1]) : revision;
}

/** The keys of a revision that one after it lacked. */
function deletedAfter({ history }: Environment, revision: number): string[] {
  const later = [...history].filter(([number]) => number > revision);
  const isGone = (key: string): boolean => later.some(([, values]) => !Object.hasOwn(values, key));
  return Object.keys(history.get(revision) ?? {}).filter(isGone);
}

/** Without a plan. */
class FakeWaitingRestores implements WaitingRestoresBackend {
  /** How many sweeps asked what is stored. */
  sweeps = 0;

  async forget(): Promise<void> {
    await Promise.resolve();
  }

  async reported(): Promise<ReportedPage> {
    this.sweeps += 1;
    return Promise.resolve({ resources: [], next: null });
  }
}
