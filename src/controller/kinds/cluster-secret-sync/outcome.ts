import type { ReadyClaim } from '../../frame/conditions.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import * as messages from './messages.ts';
import type { Plan } from './plan.ts';
import type { RemovalVerdict } from './removal.ts';

/** What a ClusterSecretSync's status reports. Pure. */

export interface Findings {
  /** What is left to do. */
  readonly plan: Plan;
  readonly removal: RemovalVerdict;
  /** How many selected namespaces are not watched. */
  readonly unwatched: number;
}

const maxFailing = 100;

/** The status's fields beside the conditions. */
export function fieldsOf(
  { status }: ClusterSecretSync,
  { plan, removal, unwatched }: Findings,
): StatusFields<ClusterSecretSync> {
  const ended = removal.verdict === 'consented' ? undefined : status?.removal;
  return {
    ...(ended === undefined ? {} : { usedConsent: ended.consent }),
    selected: plan.selected.length + unwatched,
    ready: plan.ready,
    blocked: plan.blocked.length,
    unwatched,
    failing: plan.failing.length === 0 ? undefined : plan.failing.slice(0, maxFailing),
    removal: removal.verdict === 'consented' ? removal.record : undefined,
  };
}

/** What a reconcile comes to. */
export function outcomeOf(parent: ClusterSecretSync, findings: Findings): Outcome<ClusterSecretSync> {
  return { claim: claimOf(parent, findings), fields: fieldsOf(parent, findings) };
}

function claimOf(parent: ClusterSecretSync, findings: Findings): ReadyClaim {
  const claim = workClaim(parent, findings) ?? stateClaim(parent, findings);
  const { unwatched } = findings;
  const beside = unwatched === 0 ? '' : ` ${messages.unwatched(unwatched)}`;
  return { ...claim, message: `${claim.message}${beside}` };
}

/** What is being done, or must not be; undefined if nothing is left to do. */
function workClaim({ metadata: { name }, spec }: ClusterSecretSync, findings: Findings): ReadyClaim | undefined {
  const { plan, removal } = findings;
  const { selected, lost, owned, writes } = plan;
  if (removal.verdict === 'blocked') {
    const facts = { name, lost, owned, selected: selected.length, limit: spec.maxRemovedNamespaces };
    return {
      progress: 'stalled',
      reason: 'RemovalBlocked',
      message: messages.removalBlocked({ ...facts, digest: removal.digest }),
    };
  }
  if (lost.length > 0) return working('Removing', messages.removing(lost.length));
  if (writes.length === 0) return undefined;
  return working('Generating', messages.generating(writes.length, selected.length));
}

/** The state of the selected namespaces. */
function stateClaim({ metadata: { name }, spec }: ClusterSecretSync, { plan }: Findings): ReadyClaim {
  const { ready, blocked, failing } = plan;
  const selected = plan.selected.length;
  if (selected === 0) {
    const message = spec.namespaces === undefined ? messages.noneMatches : messages.noneExists;
    return { progress: 'waiting', reason: 'NoNamespaces', message };
  }
  if (blocked[0] !== undefined) {
    const conflicts = blocked.filter(({ reason }) => reason === 'Conflict').map(({ namespace }) => namespace);
    const refused = blocked.filter(({ reason }) => reason !== 'Conflict').map(({ namespace }) => namespace);
    const message = messages.blocked({ name, selected, conflicts, refused });
    // Only a person can end a conflict. What the API server refused is retried.
    return { progress: conflicts.length > 0 ? 'stalled' : 'reconciling', reason: blocked[0].reason, message };
  }
  if (failing.length > 0) {
    const namespaces = failing.map(({ namespace }) => namespace);
    return {
      progress: 'waiting',
      reason: 'NotReady',
      message: messages.notReady({ name, selected, failing: namespaces }),
    };
  }
  if (ready < selected) return working('Syncing', messages.syncing(ready, selected));
  return { progress: 'done', reason: 'Synced', message: messages.synced(selected) };
}

/** Work whose message counts what is done. */
function working(reason: string, message: string): ReadyClaim {
  return { progress: 'reconciling', reason, message, advance: message };
}
