import { secretEnvironmentKind } from '../../../kube/client/keyframe-kinds.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { suspended } from './messages.ts';
import { NamedEnvironments } from './naming.ts';
import { EnvironmentReconciler } from './reconcile.ts';

/** Creates the environment of each SecretEnvironment and reports it in the status. The kind is cluster-scoped. */
export function registerSecretEnvironment(
  context: KindContext,
  { backend, grants }: ResourceKindDeps<'environments'>,
): { readonly kind: ManagedKind } {
  const named = new NamedEnvironments((key) => kind.find(key), context.events);
  const reconciler = new EnvironmentReconciler({
    backend,
    grants,
    at: (place) => named.at(place),
    enqueue: (key) => kind.enqueue(key),
  });
  const kind: KindController<SecretEnvironment> = new KindController<SecretEnvironment>(
    context,
    {
      kind: secretEnvironmentKind,
      plural: 'SecretEnvironments',
      isNamespaced: false,
      action: 'Ensure',
      // It needs no grant, but it must know its cluster.
      needs: () => [context.namespaces.watch],
      ...standardOutcomes<SecretEnvironment>({ message: suspended }),
      reconcile: async (reconciled) => await reconciler.reconcile(reconciled),
      cleanup: {
        // An environment that existed before stays. Only the database knows whether this resource created it.
        isNeeded: ({ spec }) => spec.deletionPolicy === 'Delete',
        run: async (deleted) => await reconciler.cleanup(deleted),
      },
      onSeen: (resource) => named.seen(resource),
      onGone: (resource) => named.gone(resource),
      // The status follows the environment's commits, but a busy environment must not load the API server.
      isThrottled: (_key, { kind: subject }) => subject === 'environment' || subject === 'slugs',
    },
    [context.namespaces.watch],
  );
  return { kind };
}
