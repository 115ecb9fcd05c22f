import type { WorkloadState } from './fleet.ts';
import { isDnsName, isKind } from './kubernetes-names.ts';

/**
 * What a controller may report of what it finds in a status. Others can write a status, so the controller leaves out
 * anything else, and the services refuse it.
 */

const maxCount = 2 ** 31 - 1;
const lastTimeMs = Date.UTC(9999, 11, 31);

export function isReportableWorkload({ kind, name, revision, replicas, updatedReplicas }: WorkloadState): boolean {
  return (
    isKind(kind) &&
    isDnsName(name) &&
    isCount(revision, Number.MAX_SAFE_INTEGER) &&
    isCount(replicas, maxCount) &&
    isCount(updatedReplicas, maxCount)
  );
}

export function isReportableTime(time: Date): boolean {
  const atMs = time.getTime();
  return atMs >= 0 && atMs <= lastTimeMs;
}

function isCount(value: number | undefined, max: number): boolean {
  return value === undefined || (Number.isSafeInteger(value) && value >= 0 && value <= max);
}
