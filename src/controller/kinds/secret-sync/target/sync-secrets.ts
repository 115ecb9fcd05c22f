import { NamedWatches } from '../../../../kube/informer/named-watches.ts';
import { type KubeObject, objectKey } from '../../../../kube/client/objects.ts';
import type { ReflectorGroup } from '../../../../kube/informer/reflector-group.ts';
import { secretsPath } from '../../../../kube/client/secrets.ts';
import { targetLabel } from '../../../annotations.ts';
import { type DependencySet, objectVersion } from '../../../frame/dependencies.ts';
import { watchLabelledSecrets } from '../../../frame/labelled-secrets.ts';
import type { KindContext } from '../../../frame/managed-kind.ts';
import type { NamedWatch } from '../../../frame/named-watch.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { SyncMemory } from '../model.ts';
import { isMerge, targetKeyOf } from '../spec/resource.ts';

export interface SyncSecretsDeps {
  readonly context: Pick<KindContext, 'kube' | 'clock' | 'logger' | 'events' | 'watchNamespaces' | 'namespaces'> &
    Parameters<typeof watchLabelledSecrets>[0];
  readonly memories: {
    entries(): Iterable<readonly [string, SyncMemory]>;
    ensure(key: string): SyncMemory;
  };
  /** A SecretSync by `namespace/name`. */
  readonly find: (key: string) => SecretSync | undefined;
}

/**
 * The watches of the Secrets that SecretSyncs depend on: one for all Secrets with the label of targets, and one by name for
 * each other Secret that a result depends on.
 */
export class SyncSecrets {
  readonly watch: NamedWatch;
  readonly #deps: SyncSecretsDeps;
  readonly #targets: ReflectorGroup<KubeObject>;
  readonly #followed: NamedWatches;

  constructor(deps: SyncSecretsDeps) {
    this.#deps = deps;
    this.#targets = watchLabelledSecrets(deps.context, targetLabel, {
      onUpsert: ({ metadata }) => this.#targetChanged(objectKey(metadata), metadata),
      onDelete: ({ metadata }) => this.#targetGone(objectKey(metadata), metadata.uid),
      onListed: () => this.#targetsListed(),
    });
    this.watch = { name: 'Secrets', group: this.#targets };
    const { kube: client, clock, logger } = deps.context;
    this.#followed = new NamedWatches({
      client,
      clock,
      logger,
      path: secretsPath,
      onChange: (id, secret) => this.#followedChanged(id, secret),
    });
  }

  /** The Secret of this key as a watch shows it, for the SecretSync that writes it. */
  target(key: string): KubeObject | undefined {
    return this.#targets.get(key) ?? this.#inTheWay(key);
  }

  /** A Secret that is watched by name. */
  followed(key: string): KubeObject | undefined {
    return this.#followed.get(key);
  }

  /** Watches exactly the Secrets that the result of a SecretSync depends on. */
  follow(key: string, dependencies: DependencySet): void {
    const sync = this.#deps.find(key);
    const secrets = [...dependencies.values()].filter(({ kind }) => kind === 'Secret').map(({ id }) => id);
    const isTargetFollowed = sync !== undefined && this.#deps.memories.ensure(key).isTargetFollowed;
    this.#followed.follow(key, new Set([...secrets, ...(isTargetFollowed ? [targetKeyOf(sync)] : [])]));
  }

  /** Ends all watches for a SecretSync. */
  forget(key: string): void {
    this.#followed.follow(key, new Set());
  }

  async stop(): Promise<void> {
    await this.#followed.stop();
  }

  #followedChanged(id: string, secret: KubeObject | undefined): void {
    const { metadata } = secret ?? {};
    this.#deps.context.events.publish({ kind: 'Secret', id, version: objectVersion(metadata) });
    if (!this.#isFollowedTarget(id)) return;
    if (metadata === undefined) this.#targetGone(id, undefined);
    // With the label, the watch of all targets shows it too. Its copy is used, which may be older, so its event counts.
    else if (!hasTargetLabel(metadata)) this.#targetChanged(id, metadata);
  }

  /** Whether a SecretSync that follows a Secret has it as its target. */
  #isFollowedTarget(id: string): boolean {
    return [...this.#followed.followersOf(id)].some((key) => {
      const sync = this.#deps.find(key);
      return sync !== undefined && targetKeyOf(sync) === id;
    });
  }

  #targetChanged(id: string, { uid, resourceVersion }: KubeObject['metadata']): void {
    this.#deps.context.events.publish({ kind: 'target', id, version: resourceVersion, uid });
  }

  #targetGone(id: string, uid: string | undefined): void {
    this.#deps.context.events.publish({ kind: 'target', id, uid });
  }

  /**
   * The targets were listed again. A written target that is missing was deleted while no watch was open. If the list is
   * older than the write, this only costs one observation.
   */
  #targetsListed(): void {
    for (const [key, { target }] of this.#deps.memories.entries()) {
      const sync = this.#deps.find(key);
      // A shared Secret has no label of the controller; a watch by name shows it.
      if (sync === undefined || isMerge(sync) || !target.isAhead) continue;
      const id = targetKeyOf(sync);
      if (this.#targets.get(id) === undefined) this.#targetGone(id, undefined);
    }
  }

  /** A Secret without the label of targets, which only a watch by name shows. With the label, the other watch shows it. */
  #inTheWay(key: string): KubeObject | undefined {
    const followed = this.#followed.get(key);
    return followed !== undefined && hasTargetLabel(followed.metadata) ? undefined : followed;
  }
}

/** Whether the watch of all targets shows a Secret. */
function hasTargetLabel({ labels }: KubeObject['metadata']): boolean {
  return labels?.[targetLabel] === 'true';
}
