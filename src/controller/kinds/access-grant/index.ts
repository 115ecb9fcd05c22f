import { accessGrantKind } from '../../../kube/client/keyframe-kinds.ts';
import type { AccessGrant, AccessGrantSpec } from '../../generated/access-grant.ts';
import { KindController } from '../../frame/kind-controller.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { standardOutcomes } from '../../frame/standard-outcomes.ts';
import type { KindContext, ManagedKind } from '../../frame/managed-kind.ts';
import { GrantIndex } from './grant-index.ts';
import { granted, noneExists, noneMatches } from './messages.ts';

export interface AccessGrantController {
  readonly kind: ManagedKind;
  /** What the AccessGrants allow each namespace. */
  readonly grants: GrantIndex;
}

/**
 * Indexes what AccessGrants allow, and reports in each status how many namespaces it applies to. AccessGrants of the whole
 * cluster count, even if only some namespaces are watched.
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
      reconcile: ({ resource }) => Promise.resolve(grantOutcome(resource.spec, grants.namespacesFor(resource.spec))),
      onSeen: (grant) => grants.grantSeen(grant),
      onGone: ({ metadata }) => grants.grantGone(metadata.name),
    },
    [context.namespaces.watch],
  );
  grants.waitFor(kind.watch);
  return { kind, grants };
}

/** The outcome for an AccessGrant that applies to these namespaces. Pure. */
export function grantOutcome(
  spec: Pick<AccessGrantSpec, 'namespaces'>,
  namespaces: readonly string[],
): Outcome<AccessGrant> {
  const fields = { namespaceCount: namespaces.length };
  if (namespaces.length > 0) {
    const present = new Set(['*', ...namespaces]);
    const missing = (spec.namespaces ?? []).filter((name) => !present.has(name));
    return { claim: { progress: 'done', reason: 'Granted', message: granted(namespaces.length, missing) }, fields };
  }
  const message = spec.namespaces === undefined ? noneMatches : noneExists;
  return { claim: { progress: 'waiting', reason: 'NoNamespaces', message }, fields };
}
