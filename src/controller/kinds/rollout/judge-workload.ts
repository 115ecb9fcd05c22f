import * as messages from './messages.ts';
import type { Workload, WorkloadKind } from './targets.ts';

/** The progress of a workload's pods towards its present pod template. */
export interface Verdict {
  readonly state:
    /** All pods were started from it and are available. */
    | 'done'
    /** Its controller is replacing pods. */
    | 'rolling'
    /** A user must act before it continues. */
    | 'held'
    /** Its controller has given up. */
    | 'stuck';
  /** What is missing, as a clause; empty when it is done. */
  readonly message: string;
  readonly replicas: number;
  /** Pods that were started from the present template and are certainly available, by the workload's status. */
  readonly updatedReplicas: number;
}

/**
 * Judges a workload from its own object, as `kubectl rollout status` does (k8s.io/kubectl/pkg/polymorphichelpers), with one
 * exception: if old pods are kept on purpose (a partition, the strategy OnDelete, a paused Deployment), the workload is
 * not done until its last pod is up to date.
 */
export function judgeWorkload(kind: WorkloadKind, workload: Workload): Verdict {
  const counts = countsOf(kind, workload);
  const { replicas, updatedReplicas, wanted } = counts;
  const verdict = (state: Verdict['state'], message: string): Verdict => ({
    state,
    message,
    replicas,
    updatedReplicas,
  });
  if (!isObserved(workload)) {
    return verdict('rolling', messages.changeUnobserved);
  }
  if (isComplete(counts)) return verdict('done', '');
  const message = messages.podsUpToDate(updatedReplicas, wanted);
  const hold = counts.updated < Math.max(wanted, replicas) ? holdOf(kind, workload, counts) : undefined;
  if (hold !== undefined) return verdict('held', messages.heldBy(message, hold));
  if (hasMissedDeadline(workload)) return verdict('stuck', messages.deadlineOver(message));
  return verdict('rolling', message);
}

function isObserved({ metadata, status }: Workload): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
}

function isComplete({ wanted, replicas, updated, available }: Counts): boolean {
  return updated >= wanted && replicas <= updated && available >= wanted;
}

interface Counts {
  readonly wanted: number;
  /** All pods, including old ones. */
  readonly replicas: number;
  readonly updated: number;
  /** The updated pods that are certainly available. Old pods count as available first. */
  readonly updatedReplicas: number;
  readonly available: number;
}

const nothingYet = {
  replicas: 0,
  updatedReplicas: 0,
  readyReplicas: 0,
  availableReplicas: 0,
  desiredNumberScheduled: 0,
  updatedNumberScheduled: 0,
  numberAvailable: 0,
};

function countsOf(kind: WorkloadKind, { spec, status }: Workload): Counts {
  const all = { ...nothingYet, ...status };
  if (kind === 'DaemonSet') {
    const { desiredNumberScheduled: wanted, numberAvailable: available } = all;
    return counted({ wanted, replicas: wanted, updated: Math.min(all.updatedNumberScheduled, wanted), available });
  }
  const { replicas, updatedReplicas: updated } = all;
  // What a StatefulSet calls available waits for minReadySeconds as well; kubectl asks for ready pods.
  const available = kind === 'StatefulSet' ? all.readyReplicas : all.availableReplicas;
  return counted({ wanted: spec?.replicas ?? 1, replicas, updated, available });
}

function counted(counts: Omit<Counts, 'updatedReplicas'>): Counts {
  const { replicas, updated, available } = counts;
  const old = Math.max(replicas - updated, 0);
  return { ...counts, updatedReplicas: Math.min(updated, Math.max(available - old, 0)) };
}

/** What keeps a workload's controller from replacing the remaining pods, and what to do; undefined if nothing does. */
function holdOf(kind: WorkloadKind, { spec = {}, metadata }: Workload, counts: Counts): string | undefined {
  if (kind === 'Deployment') return spec.paused === true ? pausedHold(metadata) : undefined;
  if (spec.updateStrategy?.type === 'OnDelete') return messages.onDelete;
  return kind === 'StatefulSet' ? partitionHold(spec.updateStrategy?.rollingUpdate?.partition ?? 0, counts) : undefined;
}

function pausedHold({ name, namespace = '' }: Workload['metadata']): string {
  return messages.paused(name, namespace);
}

function partitionHold(partition: number, { updated, wanted }: Counts): string | undefined {
  if (partition === 0 || updated < wanted - partition) return undefined;
  return messages.partitioned(partition);
}

// The Deployment controller reports this until a pod makes progress.
function hasMissedDeadline({ status }: Workload): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') ?? false;
}
