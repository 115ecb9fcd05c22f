import { NamedWatches } from '../../../kube/named-watches.ts';
import { type KubeObject, objectKey } from '../../../kube/objects.ts';
import type { ReflectorGroup } from '../../../kube/reflector-group.ts';
import { SecretsClient, secretsPath } from '../../../kube/secrets.ts';
import { recordEvent } from '../../../kube/events.ts';
import { serviceTokenKind } from '../../../kube/keyframe-kinds.ts';
import { errorFields } from '../../../lib/logger.ts';
import type { ServiceToken } from '../../generated/service-token.ts';
import type { GrantIndex } from '../access-grant/grant-index.ts';
import { FollowedIds } from '../../frame/followed-ids.ts';
import { KindController } from '../../frame/kind-controller.ts';
import { watchLabelledSecrets } from '../../frame/labelled-secrets.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { ReverseIndex } from '../../frame/reverse-index.ts';
import { type Next, WorkQueue } from '../../frame/work-queue.ts';
import { TokenMemories } from './memory.ts';
import { OrphanSweep } from './orphan-sweep.ts';
import { ServiceTokenReconciler, type TokenServices } from './reconcile.ts';
import { secretOf } from './resource.ts';
import { TokenSecrets } from './write.ts';
import { tokenLabel } from '../../annotations.ts';

// The one key of the queue that sweeps.
const sweepKey = 'sweep';

export interface ServiceTokenDeps {
  readonly services: TokenServices;
  readonly grants: GrantIndex;
  /** What the database knows the cluster by. Throws DomainError cluster_unavailable where that is not known. */
  readonly cluster: () => string;
}

/** The ServiceTokens, as those see them who read with their tokens. */
export interface ServiceTokens {
  /** One by `namespace/name`, as the watch shows it or as an own write left it. */
  find(key: string): ServiceToken | undefined;
  /** Those whose controller is the resource of this uid, by name. */
  madeFor(uid: string): readonly ServiceToken[];
  /** Whether all of them have been listed. */
  readonly isSynced: boolean;
  /** Resolves when they have been. */
  readonly synced: Promise<void>;
  /** Has a listener told the key of each that appears, changes or goes. */
  onChange(listener: (key: string) => void): void;
}

export interface ServiceTokenController {
  readonly kind: ManagedKind;
  readonly tokens: ServiceTokens;
}

/** Keeps a service token for each ServiceToken, and its value in a Secret. */
export function registerServiceToken(context: KindContext, deps: ServiceTokenDeps): ServiceTokenController {
  const parts = new Parts(context, deps);
  return { kind: parts, tokens: parts };
}

/** A KindController with the Secrets that belong to its resources. */
class Parts implements ManagedKind, ServiceTokens {
  readonly #context: KindContext;
  readonly #memories = new TokenMemories();
  /** Keys of ServiceTokens by the key of the Secret that they write. */
  readonly #bySecret = new ReverseIndex();
  /** Likewise by the uid of their controller. */
  readonly #byController = new ReverseIndex();
  readonly #tokens = new FollowedIds();
  readonly #secrets: ReflectorGroup<KubeObject>;
  readonly #followed: NamedWatches;
  readonly #kind: KindController<ServiceToken>;
  readonly #listeners: ((key: string) => void)[] = [];
  /** One sweep at a time, tried again until it succeeds. */
  readonly #sweeps: WorkQueue;
  /** The uids of deleted ServiceTokens whose tokens are revoked. */
  readonly #ended = new Set<string>();

  constructor(context: KindContext, deps: ServiceTokenDeps) {
    this.#context = context;
    this.#secrets = this.#watchSecrets();
    this.#followed = this.#followSecrets();
    const reconciler = this.#createReconciler(deps);
    this.#kind = new KindController<ServiceToken>(
      context,
      {
        kind: serviceTokenKind,
        plural: 'ServiceTokens',
        isNamespaced: true,
        action: 'Issue',
        suspendedMessage:
          'Nothing is made, replaced or written. The token goes on while a grant covers it; delete the ServiceToken to revoke it.',
        reconcile: (round) => reconciler.reconcile(round),
        whileSuspended: (round) => reconciler.whileSuspended(round),
        cleanup: {
          isNeeded: () => true,
          run: async (round) => {
            await reconciler.cleanUp(round);
            this.#ended.add(round.resource.metadata.uid);
          },
        },
        concernedBy: (event) => (event.kind === 'service_token' ? this.#tokens.keysOf(event.serviceTokenId) : []),
        onSeen: (resource) => this.#seen(resource),
        onGone: (resource) => this.#gone(resource),
      },
      [{ name: 'Secrets of ServiceTokens', group: this.#secrets }, ...deps.grants.watches],
    );
    deps.grants.onChange((namespaces) => this.#kind.wakeNamespaces(namespaces));
    this.#sweeps = this.#createSweeps(deps);
  }

  find(key: string): ServiceToken | undefined {
    return this.#kind.find(key);
  }

  madeFor(uid: string): readonly ServiceToken[] {
    const keys = this.#byController.keysOf(uid).toSorted((a, b) => (a < b ? -1 : 1));
    return keys.flatMap((key) => this.find(key) ?? []);
  }

  get isSynced(): boolean {
    return this.#own.every(({ group }) => group.isSynced);
  }

  get synced(): Promise<void> {
    return Promise.all(this.#own.map(({ group }) => group.synced)).then(() => undefined);
  }

  /** The watch of the ServiceTokens, without those of what else they need. */
  get #own(): ManagedKind['watches'] {
    return this.#kind.watches.filter(({ kind }) => kind === serviceTokenKind);
  }

  onChange(listener: (key: string) => void): void {
    this.#listeners.push(listener);
  }

  get watches(): ManagedKind['watches'] {
    return this.#kind.watches;
  }

  get queueLength(): number {
    return this.#kind.queueLength;
  }

  work(): void {
    this.#kind.work();
    this.#sweeps.add(sweepKey);
    this.#sweeps.start();
  }

  pause(): void {
    this.#kind.pause();
    this.#sweeps.pause();
  }

  committed(event: Parameters<ManagedKind['committed']>[0]): void {
    this.#kind.committed(event);
  }

  async compare(): Promise<void> {
    await this.#kind.compare();
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

  /** Secrets of others in the way, which the watch by our label does not show. */
  #followSecrets(): NamedWatches {
    const { kube: client, clock, logger } = this.#context;
    const onChange = (key: string, secret: KubeObject | undefined): void => this.#secretChanged(key, secret?.metadata);
    return new NamedWatches({ client, clock, logger, path: secretsPath, onChange });
  }

  #secretChanged(secretKey: string, metadata: KubeObject['metadata'] | undefined): void {
    for (const key of this.#bySecret.keysOf(secretKey)) {
      const verified = this.#memories.verified(key);
      const isKnown = verified !== undefined && verified.resourceVersion === metadata?.resourceVersion;
      if (!isKnown) this.#kind.wake(key);
    }
  }

  #createReconciler({ services, grants, cluster }: ServiceTokenDeps): ServiceTokenReconciler {
    const { kube: client, clock, metrics } = this.#context;
    const secretsClient = new SecretsClient({ client });
    return new ServiceTokenReconciler({
      services,
      grants,
      cluster,
      memories: this.#memories,
      secrets: new TokenSecrets({ secretsClient, metrics }),
      secretsClient,
      watchedSecret: (key) => this.#secrets.get(key),
      tokens: this.#tokens,
      onForeign: (key, resource, isForeign) =>
        this.#followed.follow(key, new Set(isForeign ? [objectKey(secretOf(resource))] : [])),
      warn: (resource, message) => this.#warn(resource, message),
      clock,
    });
  }

  #createSweeps({ services, grants, cluster }: ServiceTokenDeps): WorkQueue {
    const { kube: client, namespaces, clock, logger, metrics } = this.#context;
    const knownUids = (): string[] => [...this.#kind.keys()].flatMap((key) => this.find(key)?.metadata.uid ?? []);
    const sweep = new OrphanSweep({ services, client, grants, namespaces, cluster, knownUids, metrics, logger });
    const process = async (): Promise<Next> => {
      await sweep.run();
      return { kind: 'done' };
    };
    return new WorkQueue({ clock, logger, workers: 1, process });
  }

  // Best effort, and nothing waits for it: the condition tells the same.
  #warn(resource: ServiceToken, note: string): void {
    const { kube: client, clock, logger, instance } = this.#context;
    const deps = { client, controller: 'keyframe.dev/servicetoken', instance };
    const event = { type: 'Warning', reason: 'Expiring', action: 'Issue', note, at: clock.now() } as const;
    recordEvent(deps, serviceTokenKind, resource, event).catch((error: unknown) => {
      logger.debug({ key: objectKey(resource.metadata), ...errorFields(error) }, 'an Event was not recorded');
    });
  }

  #seen(resource: ServiceToken): void {
    const key = objectKey(resource.metadata);
    this.#bySecret.set(key, objectKey(secretOf(resource)));
    this.#byController.set(key, resource.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid);
    for (const listener of this.#listeners) listener(key);
  }

  #gone({ metadata }: ServiceToken): void {
    this.#forget(objectKey(metadata));
    // It went without its finalizer, or by force: its token may be live.
    if (!this.#ended.delete(metadata.uid)) this.#sweeps.add(sweepKey);
  }

  #forget(key: string): void {
    this.#memories.forget(key);
    this.#bySecret.set(key, undefined);
    this.#byController.set(key, undefined);
    this.#tokens.set(key, undefined);
    this.#followed.follow(key, new Set());
    for (const listener of this.#listeners) listener(key);
  }
}
