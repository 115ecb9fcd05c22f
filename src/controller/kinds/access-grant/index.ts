import { accessGrantKind } from '../../../kube/client/keyframe-kinds.ts';
import type { AccessGrant } from '../../generated/access-grant.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { GrantIndex } from './grant-index.ts';

export interface AccessGrantController {
  readonly kind: ManagedKind;
  /** What the AccessGrants allow each namespace, for the kinds whose resources need it. */
  readonly grants: GrantIndex;
}

/**
 * Knows what AccessGrants allow, and tells each one how far it reaches. Always of the whole cluster, whatever namespaces
 * are watched.
 */
export function registerAccessGrant(context: KindContext): AccessGrantController {
  const grants = new GrantIndex({ namespaces: context.namespaces, onReach: (name) => kind.enqueue(`/${name}`) });
  grants.onChange((namespaces) => {
    for (const id of namespaces) context.events.publish({ kind: 'grants', id });
  });
  const kind: KindController<AccessGrant> = new KindController<AccessGrant>(
    context,
    {
      kind: accessGrantKind,
      plural: 'AccessGrants',
      isNamespaced: false,
      action: 'Grant',
      needs: () => [context.namespaces.watch],
      ...standardOutcomes<AccessGrant>(),
      reconcile: ({ resource }) => Promise.resolve(reach(resource, grants)),
      onSeen: (grant) => grants.grantSeen(grant),
      onGone: ({ metadata }) => grants.grantGone(metadata.name),
    },
    [context.namespaces.watch],
  );
  grants.waitFor(kind.watch);
  return { kind, grants };
}

function reach({ spec }: AccessGrant, grants: GrantIndex): Outcome<AccessGrant> {
  const namespaceCount = grants.countFor(spec);
  const fields = { namespaceCount };
  if (namespaceCount > 0) {
    const counted = namespaceCount === 1 ? '1 namespace' : `${namespaceCount} namespaces`;
    const message = `The rules hold for the resources of ${counted}.`;
    return { claim: { progress: 'done', reason: 'Granted', message }, fields };
  }
  const sought =
    spec.namespaces === undefined
      ? 'No namespace has the labels that spec.namespaceSelector asks for: label one, or change the selector.'
      : `None of the namespaces in spec.namespaces exists: make one, or change the names.`;
  const message = `${sought} The rules hold as soon as there is one.`;
  return { claim: { progress: 'reconciling', reason: 'NoNamespaces', message }, fields };
}
