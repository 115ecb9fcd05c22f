import type { ChangeEvent } from '../../../services/change-feed.ts';
import { secretEnvironmentKind } from '../../../kube/keyframe-kinds.ts';
import { objectKey } from '../../../kube/objects.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-services.ts';
import { WakeThrottle } from '../../frame/wake-throttle.ts';
import { EnvironmentReconciler } from './reconcile.ts';

// The status follows the environment's commits, but a busy environment must not keep the API server busy.
const statusIntervalMs = 1000;

/** Makes the environment of each SecretEnvironment, and tells in its status how it stands. Always of the whole cluster. */
export function registerSecretEnvironment(
  context: KindContext,
  { services, grants, cluster }: ResourceKindDeps<'resourceAccess' | 'resourceEnvironments'>,
): { readonly kind: ManagedKind } {
  const reconciler = new EnvironmentReconciler({ services, grants, cluster });
  const throttle = new WakeThrottle({
    clock: context.clock,
    intervalMs: statusIntervalMs,
    wake: (key) => kind.wake(key),
  });
  const kind: KindController<SecretEnvironment> = new KindController<SecretEnvironment>(
    context,
    {
      kind: secretEnvironmentKind,
      plural: 'SecretEnvironments',
      isNamespaced: false,
      action: 'Ensure',
      suspendedMessage: 'Nothing is made or changed, and the status does not follow the environment.',
      reconcile: async (round) => await reconciler.reconcile(round),
      cleanup: {
        // What it found there stays all the same: only the database knows whether it made it.
        isNeeded: ({ spec }) => spec.deletionPolicy === 'Delete',
        run: async (round) => await reconciler.cleanup(round),
      },
      concernedBy(event) {
        for (const key of followersOf(reconciler, event)) throttle.wake(key);
        return [];
      },
      onGone: ({ metadata }) => reconciler.forget(objectKey(metadata)),
    },
    // It needs no grant, but to know which cluster it is in.
    grants.watches,
  );
  return { kind };
}

function followersOf({ environments, waiting }: EnvironmentReconciler, event: ChangeEvent): Iterable<string> {
  if (event.kind !== 'environment') return [];
  const followers = environments.keysOf(event.environmentId);
  // A slug may be free again.
  return event.ended === true ? new Set([...followers, ...waiting]) : followers;
}
