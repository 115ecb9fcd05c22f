import { servedAtHomeOnly } from '../../../domain/cluster-refusal.ts';
import { secretEnvironmentKind } from '../../../kube/client/keyframe-kinds.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { DeferredOutcome } from '../../frame/outcome.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import type { ResourceKindDeps } from '../resource-kind.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import { suspended } from './messages.ts';
import { lacksFinalizer } from './successor.ts';
import { NamedEnvironments } from './naming.ts';
import { EnvironmentReconciler } from './reconcile.ts';

/** Nothing is reported before it is known whether this is a cluster of the installation: a moment after the start. */
const notKnownYet: DeferredOutcome = { isDeferred: true, next: { kind: 'retry' } };

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
      reconcile: async (reconciled) => {
        const isHome = context.isHome();
        if (isHome === false) throw servedAtHomeOnly();
        // Without the finalizer, a deletion would skip the cleanup.
        if (isHome === undefined && lacksFinalizer(reconciled.resource)) return notKnownYet;
        return await reconciler.reconcile(reconciled);
      },
      cleanup: {
        // An environment that existed before stays. Only the database knows whether this resource created it.
        // In a cluster that makes no environments, no resource gets the finalizer.
        isNeeded: (resource) =>
          resource.spec.deletionPolicy === 'Delete' && (context.isHome() ?? !lacksFinalizer(resource)),
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
