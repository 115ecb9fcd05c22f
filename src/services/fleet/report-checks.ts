import { invalidField } from '../../domain/errors/domain-error.ts';
import type { ReportedPlan, ReportedRevision, RolloutReport, SyncStateReport } from '../../domain/fleet.ts';
import { isConditionReason, isDnsLabel, isDnsName } from '../../domain/kubernetes-names.ts';
import { limits } from '../../domain/limits.ts';
import { isReportableTime, isReportableWorkload } from '../../domain/report-forms.ts';
import { rolloutStates, syncStates } from '../../domain/sync-health.ts';
import { checkClusterName, checkUuid, checkVersion } from '../kernel/checks.ts';

/**
 * Checks of what a cluster reports: names, words and numbers have the forms that Kubernetes allows. Anything else would be
 * shown to people, so it is refused. Each throws DomainError invalid_input with the field's name, never its content.
 */

/** Checks reports of SecretSyncs before any statement. */
export function checkSyncStateReports(cluster: string, reports: readonly SyncStateReport[]): void {
  checkClusterName('cluster', cluster);
  const sourcesOf = new Map<string, Set<string>>();
  for (const [index, report] of reports.entries()) {
    const field = `reports.${index}`;
    checkReport(field, report);
    const sources = sourcesOf.get(report.uid) ?? new Set();
    refuseUnless(!sources.has(report.source), `${field}.source`, 'must be given once for each SecretSync');
    sourcesOf.set(report.uid, sources.add(report.source));
    refuseUnless(sources.size <= limits.sourcesPerSecretSync, field, tooMany(limits.sourcesPerSecretSync, 'sources'));
  }
  refuseUnless(sourcesOf.size <= limits.reportedAtOnce, 'reports', tooMany(limits.reportedAtOnce, 'SecretSyncs'));
}

/** Checks the plan of a SnapshotRestore, as far as its cluster vouches for it. */
export function checkWaitingPlan(cluster: string, { uid, namespace, name }: ReportedPlan): void {
  checkClusterName('cluster', cluster);
  checkUuid('uid', uid);
  checkNamespaceName('namespace', namespace);
  checkObjectName('name', name);
}

/** Checks the uids of resources that are gone. */
export function checkUids(cluster: string, uids: readonly string[]): void {
  checkClusterName('cluster', cluster);
  for (const [index, uid] of uids.entries()) checkUuid(`uids.${index}`, uid);
}

function checkReport(field: string, report: SyncStateReport): void {
  const { uid, source, namespace, name, environmentId, state, reason, wanted, synced, syncedAt, secretName } = report;
  checkUuid(`${field}.uid`, uid);
  refuseUnless(source === '' || isDnsLabel(source), `${field}.source`, 'must be empty or the name of a source');
  checkNamespaceName(`${field}.namespace`, namespace);
  checkObjectName(`${field}.name`, name);
  if (environmentId !== null) checkUuid(`${field}.environmentId`, environmentId);
  refuseUnless(syncStates.includes(state), `${field}.state`, oneOf(syncStates));
  checkReason(`${field}.reason`, reason);
  checkRevisionIds(`${field}.wanted`, wanted);
  checkRevisionIds(`${field}.synced`, synced);
  refuseUnless(syncedAt === null || isReportableTime(syncedAt), `${field}.syncedAt`, 'must be a time since 1970');
  checkObjectName(`${field}.secretName`, secretName);
  if (report.rollout !== null) checkRollout(`${field}.rollout`, report.rollout);
}

function checkRollout(field: string, { state, reason, converged, workloads }: RolloutReport): void {
  refuseUnless(rolloutStates.includes(state), `${field}.state`, oneOf(rolloutStates));
  checkReason(`${field}.reason`, reason);
  checkRevisionIds(`${field}.converged`, converged);
  const max = limits.workloadsPerSecretSync;
  refuseUnless(workloads.length <= max, `${field}.workloads`, tooMany(max, 'workloads'));
  const form = 'must have a kind and a name of Kubernetes, and whole numbers from 0';
  for (const [index, workload] of workloads.entries())
    refuseUnless(isReportableWorkload(workload), `${field}.workloads.${index}`, form);
}

function checkRevisionIds(field: string, ids: ReportedRevision | null): void {
  if (ids === null) return;
  checkVersion(`${field}.revision`, ids.revision, 0);
  checkUuid(`${field}.revisionId`, ids.revisionId);
}

function checkNamespaceName(field: string, name: string): void {
  refuseUnless(isDnsLabel(name), field, 'must be the name of a namespace: a DNS label of at most 63 characters');
}

function checkObjectName(field: string, name: string): void {
  refuseUnless(isDnsName(name), field, 'must be the name of a resource: a DNS name of at most 253 characters');
}

function checkReason(field: string, reason: string): void {
  refuseUnless(isConditionReason(reason), field, 'must be the reason of a condition: one CamelCase word');
}

function tooMany(max: number, what: string): string {
  return `must have at most ${max} ${what}`;
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}

function refuseUnless(isValid: boolean, field: string, message: string): void {
  if (!isValid) throw invalidField(field, message);
}
