import { parseDurationMs } from '../../../lib/duration.ts';
import type { Condition } from '../../frame/conditions.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { type StuckWorkload, attribute } from './attribution.ts';
import type { RolloutFacts } from './plan.ts';
import type { RolloutMemory, TargetObservation } from './memory.ts';
import { type WorkloadFacts, isMarkedFor, markOf } from './assessment.ts';
import type { Target } from './targets.ts';
import type { WorkloadWatches } from './workload-watches.ts';
import type { HeldData } from './model.ts';

const defaultTimeoutMs = 600_000;

/** The sources of the facts about one SecretSync's rollout. */
export interface FactSources {
  readonly sync: SecretSync;
  readonly memory: RolloutMemory;
  readonly watches: Pick<WorkloadWatches, 'observe'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The facts about a SecretSync's workloads now; undefined if it has none, or if the data of its Secret is not known. */
export function factsOf(sources: FactSources): RolloutFacts | undefined {
  const { sync, memory, now } = sources;
  const { metadata, spec, status = {} } = sync;
  if (memory.held === undefined || spec.rollout === undefined) return undefined;
  const { targets, timeout, onFailure } = spec.rollout;
  const held = { ...memory.held, since: memory.dataSince };
  return {
    syncName: metadata.name,
    held,
    converged: status.converged,
    timeout,
    timeoutMs: parseDurationMs(timeout) ?? defaultTimeoutMs,
    onFailure,
    rollbackRefusal: memory.rollbackRefusal,
    now,
    targets: targets.map((target) => workloadFacts(sources, target, held)),
  };
}

function workloadFacts({ sync, memory, watches, now }: FactSources, target: Target, held: HeldData): WorkloadFacts {
  const { metadata, status = {} } = sync;
  const observed = watches.observe(metadata.namespace ?? '', target);
  const { workload } = observed;
  const known = { ...observed, target, ...memory.facts(targetObservation({ sync, watches, now }, target, held)) };
  const mark = workload === undefined ? undefined : markOf(workload, metadata.name);
  if (workload === undefined || mark === undefined) return { ...known, ...unmarked };
  const { converged } = status;
  return { ...known, ...failureFacts({ target, workload, mark, converged }, memory) };
}

/** Records the present state of all workloads in the memory. */
export function observeTargets({ sync, memory, watches, now }: FactSources): void {
  const { held, dataSince: since } = memory;
  if (held === undefined) return;
  for (const target of sync.spec.rollout?.targets ?? []) {
    memory.observe(targetObservation({ sync, watches, now }, target, { ...held, since }));
  }
}

function targetObservation(
  { sync, watches, now }: Omit<FactSources, 'memory'>,
  target: Target,
  held: HeldData,
): TargetObservation {
  const { metadata, status = {} } = sync;
  const { workload } = watches.observe(metadata.namespace ?? '', target);
  const mark = workload === undefined ? undefined : markOf(workload, metadata.name);
  return { target, workload, isMarked: isMarkedFor(held, mark), now, converged: convergedOf(status.conditions) };
}

type FailureFacts = Pick<WorkloadFacts, 'failure' | 'observeFrom'>;

// A workload that was not restarted for the SecretSync proves nothing about its data.
const unmarked: FailureFacts = { failure: { kind: 'unknown' }, observeFrom: Infinity };

/** Why a workload fails, if it is stuck, and when to observe its pods. */
function failureFacts(stuck: StuckWorkload, { pods }: Pick<RolloutMemory, 'pods'>): FailureFacts {
  const { target, workload } = stuck;
  // If the cause is known without the pods, they need not be observed.
  const unlooked = attribute(stuck, undefined);
  if (unlooked.kind !== 'unknown') return { failure: unlooked, observeFrom: Infinity };
  return { failure: attribute(stuck, pods.verdict(target, workload)), observeFrom: pods.nextAt(target, workload) };
}

/** The condition Converged among these conditions. */
export function convergedOf(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Converged');
}
