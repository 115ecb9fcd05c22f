import { isApiStatus } from '../../../../kube/client/api-error.ts';
import type { KubeClient } from '../../../../kube/client/client.ts';
import { deleteResource } from '../../../../kube/client/custom-resources.ts';
import { type EventDeps, recordEvent } from '../../../../kube/client/events.ts';
import { secretSyncKind, serviceTokenKind } from '../../../../kube/client/keyframe-kinds.ts';
import { objectKey } from '../../../../kube/client/objects.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { type Logger, errorFields } from '../../../../observability/logger.ts';
import type { ResourceTokens } from '../../../../services/managed/tokens.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { ServiceToken } from '../../../generated/service-token.ts';
import { eventNotRecorded } from '../../../frame/messages.ts';
import { legacyTokenDeleted, legacyTokenInUse } from '../source-messages.ts';
import { isLegacyTokenOf, isTokenNamed, legacyOwnerOf } from './legacy-tokens.ts';

export interface LegacySweepDeps {
  readonly client: Pick<KubeClient, 'request'>;
  readonly resourceTokens: Pick<ResourceTokens, 'unusedMs'>;
  readonly cluster: () => string;
  /** The ServiceTokens that exist; undefined before all have been listed. */
  readonly serviceTokens: () => readonly ServiceToken[] | undefined;
  /** A SecretSync by `namespace/name`. */
  readonly find: (key: string) => SecretSync | undefined;
  /** All SecretSyncs of a namespace. */
  readonly syncsIn: (namespace: string) => readonly SecretSync[];
  /** Whether this process has found the Secret of a SecretSync right. */
  readonly isVerified: (key: string) => boolean;
  /** When this process began to lead, on the clock. */
  readonly leadingSinceMs: () => number;
  readonly events: Omit<EventDeps, 'client'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

// A workload that mounts the token reads at least once a day, or it is not in use.
const keptMs = 24 * 3_600_000;

/**
 * Deletes the ServiceTokens that release 0.1.0 made for SecretSyncs which read without one now, one after the other. Their
 * finalizer revokes the token. A ServiceToken stays until its SecretSync has read without it and reported that, as long as
 * a source in the namespace names it, and as long as its token was used within a day, because a pod may use it. That is
 * reported only if the token was used since this process leads: the use before may be the read of a former leader of release
 * 0.1.0.
 */
export class LegacySweep {
  readonly #deps: LegacySweepDeps;
  /** The uids of the ServiceTokens whose use has been reported. */
  readonly #reported = new Set<string>();

  constructor(deps: LegacySweepDeps) {
    this.#deps = deps;
  }

  /** One sweep. Throws DomainError and ApiError; what was not reached is reached by the next one. */
  async run(): Promise<void> {
    for (const token of this.#deps.serviceTokens() ?? []) {
      const sync = this.#deps.find(legacyOwnerOf(objectKey(token.metadata)) ?? '');
      if (sync === undefined || !this.#isNeedless(sync, token)) continue;
      const use = await this.#useOf(token);
      if (use === 'over') await this.#delete(token);
      else if (use === 'present') await this.#report(sync, token);
    }
  }

  #isNeedless(sync: SecretSync, token: ServiceToken): boolean {
    const { deletionTimestamp, namespace = '' } = token.metadata;
    return (
      deletionTimestamp === undefined &&
      isLegacyTokenOf(sync, token) &&
      this.#isSynced(sync) &&
      !isTokenNamed(token, this.#deps.syncsIn(namespace))
    );
  }

  /** Whether this process has read for a SecretSync, found its Secret right, and reported that. */
  #isSynced({ metadata, status }: SecretSync): boolean {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const isReported = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
    return isReported && this.#deps.isVerified(objectKey(metadata));
  }

  /** `unknown`: it was used within a day, possibly by a former leader alone. */
  async #useOf({ metadata: { uid } }: ServiceToken): Promise<'over' | 'unknown' | 'present'> {
    const { resourceTokens, cluster, clock, leadingSinceMs } = this.#deps;
    const leadingMs = clock.now() - leadingSinceMs();
    const unusedMs = await resourceTokens.unusedMs(uid, cluster());
    if (unusedMs === null || unusedMs >= keptMs) return 'over';
    return unusedMs < leadingMs ? 'present' : 'unknown';
  }

  async #report(sync: SecretSync, { metadata: { name, uid } }: ServiceToken): Promise<void> {
    if (this.#reported.has(uid)) return;
    this.#reported.add(uid);
    const { client, events, clock, logger } = this.#deps;
    const note = legacyTokenInUse(name);
    const event = { type: 'Warning', reason: 'LegacyTokenInUse', action: 'Sync', note, at: clock.now() } as const;
    try {
      await recordEvent({ client, ...events }, secretSyncKind, sync, event);
    } catch (error) {
      logger.debug({ key: objectKey(sync.metadata), ...errorFields(error) }, eventNotRecorded);
    }
  }

  async #delete({ metadata: { namespace, name, uid, resourceVersion } }: ServiceToken): Promise<void> {
    const { client, logger } = this.#deps;
    try {
      await deleteResource(client, serviceTokenKind, { resource: { namespace, name }, uid, resourceVersion });
    } catch (error) {
      // It is no longer what was judged.
      if (!isApiStatus(error, 404, 409)) throw error;
      return;
    }
    logger.info({ key: objectKey({ ...(namespace && { namespace }), name }) }, legacyTokenDeleted);
  }
}
