import { secretEnvironmentKind } from '../../../kube/client/keyframe-kinds.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-services.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { EnvironmentReconciler } from './reconcile.ts';

/** Makes the environment of each SecretEnvironment, and tells in its status how it stands. Always of the whole cluster. */
export function registerSecretEnvironment(
  context: KindContext,
  { services, grants, cluster }: ResourceKindDeps<'resourceAccess' | 'resourceEnvironments'>,
): { readonly kind: ManagedKind } {
  const reconciler = new EnvironmentReconciler({ services, grants, cluster });
  const kind = new KindController<SecretEnvironment>(
    context,
    {
      kind: secretEnvironmentKind,
      plural: 'SecretEnvironments',
      isNamespaced: false,
      action: 'Ensure',
      // It needs no grant, but to know which cluster it is in.
      needs: () => [context.namespaces.watch],
      ...standardOutcomes<SecretEnvironment>({
        message: 'Nothing is made or changed, and the status does not follow the environment.',
      }),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      cleanup: {
        // What it found there stays all the same: only the database knows whether it made it.
        isNeeded: ({ spec }) => spec.deletionPolicy === 'Delete',
        run: async (deleted) => await reconciler.cleanup(deleted),
      },
      // The status follows the environment's commits, but a busy environment must not keep the API server busy.
      isThrottled: (_key, { kind: subject }) => subject === 'environment' || subject === 'slugs',
    },
    [context.namespaces.watch],
  );
  return { kind };
}
