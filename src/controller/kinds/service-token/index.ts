import { NamedWatches } from '../../../kube/informer/named-watches.ts';
import { type KubeObject, objectKey } from '../../../kube/client/objects.ts';
import type { ReflectorGroup } from '../../../kube/informer/reflector-group.ts';
import { SecretsClient, secretsPath } from '../../../kube/client/secrets.ts';
import { serviceTokenKind } from '../../../kube/client/keyframe-kinds.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { SecretClaims } from '../secret-claims/claims.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import { objectVersion } from '../../frame/dependencies.ts';
import { announce } from '../../frame/announce.ts';
import { EventPace } from '../../frame/event-pace.ts';
import { KindController } from '../../frame/kind-controller.ts';
import { watchLabelledSecrets } from '../../frame/labelled-secrets.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { type Next, WorkQueue } from '../../frame/work-queue.ts';
import type { NamedWatch } from '../../frame/named-watch.ts';
import { TokenStates } from './state.ts';
import { suspended } from './messages.ts';
import { OrphanSweep } from './orphan-sweep.ts';
import { ServiceTokenReconciler } from './reconcile.ts';
import { claimOf, claimantOf, isAbandoned, isFederated, secretOf } from './resource.ts';
import { specVersionOf, statusVersionOf } from './versions.ts';
import { TokenSecrets } from './write.ts';
import { tokenLabel } from '../../annotations.ts';

// The keys of the queue that sweeps: everything, and the tokens of namespaces whose grants have changed.
const sweepKey = 'sweep';
const grantsKey = 'grants';
// A sweep ignores tokens that are less than five minutes old by the database's clock.
const youthMs = 330_000;

export interface ServiceTokenDeps extends ResourceKindDeps<'tokens'> {
  /** The claims of all kinds on Secrets. */
  readonly claims: SecretClaims;
}

/** The ServiceTokens for the kinds that read with their tokens. */
export interface ServiceTokens {
  /** A ServiceToken by `namespace/name`, from the watch or from an own write that is newer. */
  find(key: string): ServiceToken | undefined;
  /** The metadata of a token Secret, by the Secret's `namespace/name`. */
  issuedSecret(key: string): KubeObject | undefined;
  /** The watch of the ServiceTokens. */
  readonly watch: NamedWatch;
}

export interface ServiceTokenController {
  readonly kind: ManagedKind;
  readonly tokens: ServiceTokens;
}

/** Keeps a service token for each ServiceToken and writes its value to a Secret. */
export function registerServiceToken(context: KindContext, deps: ServiceTokenDeps): ServiceTokenController {
  const parts = new ServiceTokenKind(context, deps);
  return { kind: parts, tokens: parts };
}

/** A KindController, the watches of the Secrets that belong to its resources, and the orphan sweep. */
class ServiceTokenKind implements ManagedKind, ServiceTokens {
  readonly #context: KindContext;
  readonly #states = new TokenStates();
  readonly #repairPace: EventPace;
  readonly #secrets: ReflectorGroup<KubeObject>;
  readonly #followed: NamedWatches;
  readonly #kind: KindController<ServiceToken>;
  /** Runs one sweep at a time and retries it until it succeeds. */
  readonly #sweeps: WorkQueue;
  /** The uids of deleted ServiceTokens whose tokens are revoked. */
  readonly #ended = new Set<string>();
  /** The uids of abandoned ServiceTokens that have caused a sweep. */
  readonly #abandoned = new Set<string>();
  /** The namespaces whose grants have changed since the last sweep that judged them. */
  readonly #changedGrants = new Set<string>();
  /** When the next planned sweep is due; in the past if none is planned. */
  #sweepAgainAt = 0;

  constructor(context: KindContext, deps: ServiceTokenDeps) {
    this.#context = context;
    this.#repairPace = new EventPace(context.clock);
    this.#secrets = this.#watchSecrets();
    this.#followed = this.#followSecrets();
    const reconciler = this.#createReconciler(deps);
    const secretWatch: NamedWatch = { name: 'Secrets of ServiceTokens', group: this.#secrets };
    this.#kind = new KindController<ServiceToken>(
      context,
      {
        kind: serviceTokenKind,
        plural: 'ServiceTokens',
        isNamespaced: true,
        action: 'Issue',
        needs: (resource) => [secretWatch, ...deps.grants.needsOf(resource)],
        ...standardOutcomes<ServiceToken>({
          message: suspended,
          work: async (reconciled) => await reconciler.whileSuspended(reconciled),
        }),
        reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
        cleanup: {
          isNeeded: () => true,
          run: async (deleted) => {
            await reconciler.cleanUp(deleted);
            this.#ended.add(deleted.resource.metadata.uid);
          },
        },
        onSeen: (resource) => {
          this.#claim(resource, deps.claims);
          this.#seen(resource);
        },
        onGone: (resource) => {
          deps.claims.drop(objectKey(secretOf(resource)), claimantOf(resource));
          this.#gone(resource);
        },
      },
      [secretWatch, ...deps.grants.watches],
    );
    this.#sweeps = this.#createSweeps(deps);
    deps.grants.onChange((namespaces) => {
      for (const namespace of namespaces) this.#changedGrants.add(namespace);
      this.#sweeps.add(grantsKey);
    });
  }

  find(key: string): ServiceToken | undefined {
    return this.#kind.find(key);
  }

  issuedSecret(key: string): KubeObject | undefined {
    return this.#secrets.get(key);
  }

  get watch(): NamedWatch {
    return this.#kind.watch;
  }

  get watches(): ManagedKind['watches'] {
    return this.#kind.watches;
  }

  get queueLength(): number {
    return this.#kind.queueLength;
  }

  startLeading(): void {
    this.#kind.startLeading();
    this.#sweeps.add(sweepKey);
    this.#sweeps.start();
  }

  stopLeading(): void {
    this.#kind.stopLeading();
    this.#sweeps.pause();
  }

  async resync(): Promise<void> {
    await this.#kind.resync();
    this.#sweeps.add(sweepKey);
  }

  async drain(limitMs: number): Promise<void> {
    await Promise.all([this.#kind.drain(limitMs), this.#sweeps.stop(limitMs)]);
  }

  async close(): Promise<void> {
    await this.#followed.stop();
    await this.#kind.close();
  }

  #watchSecrets(): ReflectorGroup<KubeObject> {
    return watchLabelledSecrets(this.#context, tokenLabel, {
      onUpsert: ({ metadata }) => this.#secretChanged(objectKey(metadata), metadata),
      onDelete: ({ metadata }) => this.#secretChanged(objectKey(metadata), undefined),
    });
  }

  /** Watches Secrets of other owners with a wanted name, which the watch by label does not show. */
  #followSecrets(): NamedWatches {
    const { kube: client, clock, logger } = this.#context;
    const onChange = (key: string, secret: KubeObject | undefined): void => this.#secretChanged(key, secret?.metadata);
    return new NamedWatches({ client, clock, logger, path: secretsPath, onChange });
  }

  #secretChanged(secretKey: string, metadata: KubeObject['metadata'] | undefined): void {
    this.#context.events.publish({ kind: 'issued Secret', id: secretKey, version: objectVersion(metadata) });
  }

  #createReconciler({ backend, grants, claims }: ServiceTokenDeps): ServiceTokenReconciler {
    const { kube: client, serverNow, metrics } = this.#context;
    const secretsClient = new SecretsClient({ client });
    return new ServiceTokenReconciler({
      backend,
      grants,
      states: this.#states,
      secrets: new TokenSecrets({ secretsClient, metrics }),
      secretsClient,
      watchedSecret: (key) => this.#secrets.get(key),
      claims,
      onUnmanaged: (key, resource, isUnmanaged) =>
        this.#followed.follow(key, new Set(isUnmanaged ? [objectKey(secretOf(resource))] : [])),
      // The condition reports the same.
      warn: (resource, note) => this.#announce(resource, 'Expiring', note),
      onRepaired: (resource, note) => {
        if (this.#repairPace.take(objectKey(resource.metadata), 'DriftRepaired'))
          this.#announce(resource, 'DriftRepaired', note);
      },
      serverNow,
    });
  }

  #createSweeps({ backend, grants }: ServiceTokenDeps): WorkQueue {
    const { kube: client, namespaces, hasName, clock, logger, metrics } = this.#context;
    // A reconcile does nothing for an abandoned ServiceToken.
    const known = (): ServiceToken[] =>
      [...this.#kind.keys()].flatMap((key) => this.find(key) ?? []).filter(({ metadata }) => !isAbandoned(metadata));
    const knownUids = (): string[] => known().map(({ metadata }) => metadata.uid);
    const sweep = new OrphanSweep({
      backend,
      client,
      grants,
      namespaces,
      hasName,
      knownUids,
      metrics,
      logger,
    });
    const process = async (key: string): Promise<Next> => {
      if (key === grantsKey) return await this.#judgeGrants(sweep);
      await sweep.run();
      const delayMs = this.#sweepAgainAt - clock.now();
      return delayMs > 0 ? { kind: 'after', delayMs } : { kind: 'done' };
    };
    return new WorkQueue({ clock, logger, workers: 1, process });
  }

  /** Judges the tokens of the namespaces whose grants have changed. If it fails, the retry judges them. */
  async #judgeGrants(sweep: OrphanSweep): Promise<Next> {
    const namespaces = [...this.#changedGrants];
    this.#changedGrants.clear();
    try {
      await sweep.judgeGrants(namespaces);
    } catch (error) {
      for (const namespace of namespaces) this.#changedGrants.add(namespace);
      throw error;
    }
    return { kind: 'done' };
  }

  #announce(resource: ServiceToken, reason: string, note: string): void {
    const { kube: client, clock, logger, instance } = this.#context;
    const event = { type: 'Warning', reason, action: 'Issue', note } as const;
    announce({ client, clock, logger, instance }, serviceTokenKind, resource, event);
  }

  #claim(resource: ServiceToken, claims: SecretClaims): void {
    const secret = objectKey(secretOf(resource));
    const isWriting = resource.metadata.deletionTimestamp === undefined && !isFederated(resource);
    if (isWriting) claims.note(secret, claimOf(resource));
    else claims.drop(secret, claimantOf(resource));
  }

  #seen(resource: ServiceToken): void {
    const { metadata } = resource;
    this.#publish(objectKey(metadata));
    if (!isAbandoned(metadata) || this.#ended.has(metadata.uid) || this.#abandoned.has(metadata.uid)) return;
    this.#abandoned.add(metadata.uid);
    this.#sweepSoon();
  }

  /** Publishes a ServiceToken as it is now. */
  #publish(id: string): void {
    const { events } = this.#context;
    const token = this.find(id);
    events.publish({ kind: 'ServiceToken spec', id, version: specVersionOf(token) });
    events.publish({ kind: 'ServiceToken status', id, version: statusVersionOf(token) });
  }

  #gone({ metadata }: ServiceToken): void {
    this.#forget(objectKey(metadata));
    this.#abandoned.delete(metadata.uid);
    // It was deleted without its finalizer, or by force: its token may be live.
    if (!this.#ended.delete(metadata.uid)) this.#sweepSoon();
  }

  /** Sweeps now, and again when no token of now is too young. */
  #sweepSoon(): void {
    this.#sweepAgainAt = this.#context.clock.now() + youthMs;
    this.#sweeps.add(sweepKey);
  }

  #forget(key: string): void {
    this.#states.forget(key);
    this.#repairPace.forget(key);
    this.#followed.follow(key, new Set());
    this.#publish(key);
  }
}
