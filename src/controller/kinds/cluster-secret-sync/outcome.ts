import { allowDeletionAnnotation } from '../../annotations.ts';
import type { ReadyClaim } from '../../frame/conditions.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import { shortList } from '../../names.ts';
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
  const beside =
    unwatched === 0 ? '' : ` ${counted(unwatched)} more, which this controller does not watch, are selected.`;
  return { ...claim, message: `${claim.message}${beside}` };
}

/** What is being done, or must not be; undefined if nothing is left to do. */
function workClaim(parent: ClusterSecretSync, { plan, removal }: Findings): ReadyClaim | undefined {
  const { selected, lost, writes } = plan;
  if (removal.verdict === 'blocked') return goingOn('RemovalBlocked', blockedText(parent, plan, removal.digest));
  if (lost.length > 0) return goingOn('Removing', `The SecretSyncs of ${counted(lost.length)} are being removed.`);
  if (writes.length === 0) return undefined;
  const message = `The SecretSyncs of ${writes.length} of ${counted(selected.length)} are being made or changed.`;
  return goingOn('Generating', message);
}

/** How the selected namespaces stand. */
function stateClaim(parent: ClusterSecretSync, { plan }: Findings): ReadyClaim {
  const { selected, ready, blocked, failing } = plan;
  const of = counted(selected.length);
  if (selected.length === 0) return goingOn('NoNamespaces', noNamespacesText(parent));
  if (blocked[0] !== undefined) return goingOn(blocked[0].reason, blockedNamespacesText(parent, plan));
  if (failing.length > 0) {
    const named = shortList(failing.map(({ namespace }) => namespace));
    const message = `The SecretSyncs of ${failing.length} of ${of} are not ready (${named}); their conditions say why.`;
    return goingOn('NotReady', message);
  }
  if (ready < selected.length) return goingOn('Syncing', `The SecretSyncs of ${ready} of ${of} are ready.`);
  return { progress: 'done', reason: 'Synced', message: `The SecretSyncs of ${of} are ready.` };
}

function goingOn(reason: string, message: string): ReadyClaim {
  return { progress: 'reconciling', reason, message };
}

function counted(count: number): string {
  return count === 1 ? '1 namespace' : `${count} namespaces`;
}

function blockedText(
  { metadata: { name }, spec }: ClusterSecretSync,
  { lost, owned, selected }: Plan,
  digest: string,
): string {
  const annotate = `kubectl annotate --overwrite clustersecretsync ${name} ${allowDeletionAnnotation}=${digest}`;
  const why =
    selected.length === 0
      ? 'The selection is empty'
      : `That is more than spec.maxRemovedNamespaces (${spec.maxRemovedNamespaces}) allows`;
  return (
    `${lost.length} of the ${counted(owned)} with a SecretSync are selected no more (${shortList(lost)}). ${why}; ` +
    `none is removed. Select them again, or allow the removal from just these: run \`${annotate}\`.`
  );
}

function noNamespacesText({ spec }: ClusterSecretSync): string {
  const sought =
    spec.namespaces === undefined
      ? 'No namespace has the labels that spec.namespaceSelector asks for: label one, or change the selector'
      : 'None of the namespaces in spec.namespaces exists: make one, or change the names';
  return `${sought}. What spec.excludeNamespaces names does not count.`;
}

function blockedNamespacesText({ metadata: { name } }: ClusterSecretSync, { blocked, selected }: Plan): string {
  const conflicts = blocked.filter(({ reason }) => reason === 'Conflict').map(({ namespace }) => namespace);
  const others = blocked.filter(({ reason }) => reason !== 'Conflict').map(({ namespace }) => namespace);
  const texts = [
    ...(conflicts.length === 0
      ? []
      : [
          `${conflicts.length} of ${counted(selected.length)} have a SecretSync ${name} of another origin (${shortList(conflicts)}): delete it there, or exclude the namespace.`,
        ]),
    ...(others.length === 0
      ? []
      : [
          `The API server does not take the SecretSync in ${others.length} of ${counted(selected.length)} (${shortList(others)}): check quotas, admission policies and the RBAC of the controller.`,
        ]),
  ];
  return texts.join(' ');
}
