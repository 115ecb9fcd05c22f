import { parseDurationMs } from '../../../lib/duration.ts';
import type { Condition } from '../../frame/conditions.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { type StuckWorkload, attribute } from './attribution.ts';
import type { RolloutFacts } from './plan.ts';
import type { RolloutMemory, TargetLook } from './memory.ts';
import { type TargetFacts, isMarkedFor, markOf } from './standing.ts';
import type { Target } from './targets.ts';
import type { WorkloadWatches } from './workload-watches.ts';
import type { HeldData } from './model.ts';

const defaultTimeoutMs = 600_000;

/** What is known of one SecretSync's rollout: where it comes from. */
export interface FactSources {
  readonly sync: SecretSync;
  readonly memory: RolloutMemory;
  readonly watches: Pick<WorkloadWatches, 'look'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What is known of a SecretSync's workloads now; undefined where it has none, or what its Secret holds is not known. */
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
    targets: targets.map((target) => targetFacts(sources, target, held)),
  };
}

function targetFacts({ sync, memory, watches, now }: FactSources, target: Target, held: HeldData): TargetFacts {
  const { metadata, status = {} } = sync;
  const look = watches.look(metadata.namespace ?? '', target);
  const { workload } = look;
  const known = { ...look, target, ...memory.facts(targetLook({ sync, watches, now }, target, held)) };
  const mark = workload === undefined ? undefined : markOf(workload, metadata.name);
  if (workload === undefined || mark === undefined) return { ...known, ...unmarked };
  const { converged } = status;
  return { ...known, ...failureFacts({ target, workload, mark, converged }, memory) };
}

/** Has the memory take note of how all workloads look now. */
export function observeTargets({ sync, memory, watches, now }: FactSources): void {
  const { held, dataSince: since } = memory;
  if (held === undefined) return;
  for (const target of sync.spec.rollout?.targets ?? []) {
    memory.observe(targetLook({ sync, watches, now }, target, { ...held, since }));
  }
}

function targetLook({ sync, watches, now }: Omit<FactSources, 'memory'>, target: Target, held: HeldData): TargetLook {
  const { metadata, status = {} } = sync;
  const { workload } = watches.look(metadata.namespace ?? '', target);
  const mark = workload === undefined ? undefined : markOf(workload, metadata.name);
  return { target, workload, isMarked: isMarkedFor(held, mark), now, converged: convergedOf(status.conditions) };
}

type FailureFacts = Pick<TargetFacts, 'failure' | 'lookFrom'>;

// What was not restarted for the SecretSync has nothing to tell of its data.
const unmarked: FailureFacts = { failure: { kind: 'unknown' }, lookFrom: Infinity };

/** What a workload fails of, if it is stuck, and when that is worth a look. */
function failureFacts(stuck: StuckWorkload, { looks }: Pick<RolloutMemory, 'looks'>): FailureFacts {
  const { target, workload } = stuck;
  // What is no matter of the pods needs no look at them.
  const unlooked = attribute(stuck, undefined);
  if (unlooked.kind !== 'unknown') return { failure: unlooked, lookFrom: Infinity };
  return { failure: attribute(stuck, looks.verdict(target, workload)), lookFrom: looks.nextAt(target, workload) };
}

/** The condition Converged of some. */
export function convergedOf(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Converged');
}
