import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../domain/plaintext.ts';
import { refOf } from '../../../domain/secret-states.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { AbandonedData } from '../rollout/stuck.ts';
import {
  type ChosenValues,
  type DataPlan,
  type SecretData,
  encodeSecretData,
  planSecretData,
} from './data/secret-data.ts';
import { isForeign } from './judge/judge.ts';
import { recordedEnvironmentId, replacedSourceError } from './judge/replaced-source.ts';
import { recordTooLong } from './messages.ts';
import {
  type SourceState,
  type SyncContext,
  type TargetFacts,
  type WantedFacts,
  maxAnnotationBytes,
  maxSecretBytes,
} from './model.ts';
import type { BoundedReads } from './read/bounded-reads.ts';
import {
  type ReadDeps,
  type ReadPlan,
  type SourceReading,
  type SourceReadings,
  readSources,
} from './read/read-sources.ts';
import { SourceRefusedError } from './read/refusals.ts';
import { type ReadData, orFormerStateError, selectRevision } from './rollback/rollback.ts';
import { targetKeyOf } from './spec/resource.ts';
import { sourcesOf } from './spec/source.ts';
import { minRecordBytes, targetRecord } from './target/target-record.ts';
import type { SourceToken } from './tokens/token-place.ts';

/** What a Secret must hold: the steps read and select. */

export interface Wanted {
  /** Undefined if nothing was read because the SecretSync must not write the target. */
  readonly wanted: WantedFacts | DomainError | undefined;
  /** The states that the sources were read at, also if their data cannot be united; undefined if they were not read. */
  readonly read: readonly SourceState[] | undefined;
  /** The values of all sources, if they could be read. */
  readonly data: SecretData | undefined;
  /** When the first of the tokens expires; null if none does, undefined if nothing was read. */
  readonly tokenExpiresAt: Date | null | undefined;
  /** Checks the grants of the namespace again. Call it right before a write. Throws DomainError forbidden. */
  readonly confirm: () => void;
  /** Whether the error with a token is about to end or to be explained. */
  readonly isUnsettled: boolean;
  /** Why the Secret is not rolled back although its data was abandoned, as a clause. */
  readonly rollbackRefusal: string | undefined;
}

export interface WantedPlan {
  /** The observed target. */
  readonly target: TargetFacts;
  /** The tokens of the sources. */
  readonly tokens: readonly SourceToken[];
  /** Of this attempt, begun after the target was observed. */
  readonly reads: BoundedReads;
}

export interface WantedDeps extends ReadDeps {
  readonly fingerprint: Fingerprint;
}

/**
 * Reads what the spec asks for. If the target must not be written, nothing is read. An error of a token or an environment is
 * returned. Throws ApiError and AllowanceExceededError.
 */
export async function readWanted(deps: WantedDeps, context: SyncContext, plan: WantedPlan): Promise<Wanted> {
  if (isForeign(plan.target)) return nothingRead;
  let read: Wanted['read'];
  try {
    const sources = await readSources(deps, context, readPlan(context, plan));
    read = sources.readings.map(({ facts }) => facts);
    return { ...nothingRead, ...(await united(deps, context.resource, { ...sources, reads: plan.reads })), read };
  } catch (error) {
    return refused(error, read);
  }
}

/**
 * Selects the data for the Secret: what was read, or former data for a rollback, which is read with the same tokens. Returns
 * and throws errors as `readWanted` does. A refusal keeps the states that were read.
 */
export async function selectWanted(
  deps: WantedDeps & { readonly rollouts: { abandoned(sync: SecretSync): AbandonedData | undefined } },
  context: SyncContext,
  plan: WantedPlan,
  asked: Wanted,
): Promise<Wanted> {
  const { resource: sync } = context;
  const { target, reads } = plan;
  if (!isComplete(asked)) return asked;
  try {
    const { read: selected, refusal } = await selectRevision({
      context,
      target,
      asked,
      abandoned: deps.rollouts.abandoned(sync),
      readAt: async (stateOf) => {
        const former = await readSources(deps, context, { ...readPlan(context, plan), stateOf });
        return { ...asked, ...(await united(deps, sync, { ...former, reads }, orFormerStateError)) };
      },
    });
    return { ...selected, rollbackRefusal: refusal };
  } catch (error) {
    return refused(error, asked.read);
  }
}

function readPlan({ resource: sync }: SyncContext, { target, tokens, reads }: WantedPlan): ReadPlan {
  const sources = sourcesOf(sync);
  const recordedIds = sources.map((source) => recordedEnvironmentId(target, source, sources));
  return { tokens, recordedIds, objection: (read) => replacedSourceError(sync, target, read), reads };
}

function isComplete(asked: Wanted): asked is Wanted & ReadData {
  return asked.wanted !== undefined && !(asked.wanted instanceof DomainError);
}

const nothingRead: Wanted = {
  wanted: undefined,
  read: undefined,
  data: undefined,
  tokenExpiresAt: undefined,
  confirm: () => {},
  isUnsettled: false,
  rollbackRefusal: undefined,
};

/** An error that the status reports. Throws every other one. */
function refused(error: unknown, read: Wanted['read']): Wanted {
  if (error instanceof SourceRefusedError)
    return { ...nothingRead, wanted: error.refusal, read, isUnsettled: error.isUnsettled };
  if (error instanceof DomainError) return { ...nothingRead, wanted: error, read };
  throw error;
}

/** The data of all sources together. `guarded` handles errors of what cannot be united. */
async function united(
  deps: UniteDeps,
  sync: SecretSync,
  { readings, reads, ...others }: SourceReadings & Pick<Readings, 'reads'>,
  guarded: Guard = (make) => make(),
): Promise<ReadData & Omit<SourceReadings, 'readings'>> {
  return { ...(await unite(deps, sync, { readings, reads, guarded })), ...others };
}

type UniteDeps = Pick<WantedDeps, 'fingerprint' | 'sources'>;

/** Handles the errors of what cannot be united. */
type Guard = <T>(make: () => T) => T;

interface Readings {
  readonly readings: readonly SourceReading[];
  readonly reads: BoundedReads;
  readonly guarded: Guard;
}

/** What the Secret must hold: the data of all sources together. If it is too large for a Secret, no value is read. */
async function unite(
  { fingerprint, sources }: UniteDeps,
  sync: SecretSync,
  { readings, reads, guarded }: Readings,
): Promise<ReadData> {
  const plan = await planned(sources, sync, { readings, guarded });
  if (plan.size.bytes > maxSecretBytes) {
    await readChosen(sources, readings, []);
    return { wanted: wantedFacts(readings, plan, undefined), data: undefined };
  }
  reads.expectValues(plan.valueBytes);
  const values = await readChosen(sources, readings, plan.needed);
  const data = guarded(() => encodeSecretData(fingerprint, targetKeyOf(sync), plan, values));
  return { wanted: wantedFacts(readings, plan, data), data };
}

async function planned(
  sources: UniteDeps['sources'],
  sync: SecretSync,
  { readings, guarded }: Omit<Readings, 'reads'>,
): Promise<DataPlan> {
  const { template, target } = sync.spec;
  try {
    return guarded(() => {
      const plan = planSecretData(readings, { template, type: target.type });
      // Before any value is read, and without building a record that no Secret can carry.
      const recordBytes = minRecordBytes(
        readings.map(({ source }) => source),
        plan,
      );
      if (recordBytes > maxAnnotationBytes) throw recordTooLong(sync, recordBytes, false);
      return plan;
    });
  } catch (error) {
    // Records the read of the names in the audit: the condition may name some of them.
    await readChosen(sources, readings, []);
    throw error;
  }
}

/**
 * The needed values of each source. Those that its answer does not have are read with its own token, one source at a time: a
 * SecretSync with many sources must not take all connections to the database.
 */
async function readChosen(
  backend: UniteDeps['sources'],
  readings: readonly SourceReading[],
  needed: DataPlan['needed'],
): Promise<ChosenValues> {
  const values = new Map<string | undefined, ReadonlyMap<string, Plaintext>>();
  for (const { source, admitted, found, values: answered } of readings) {
    const keys = needed.filter((placed) => placed.source === source.name).map(({ key }) => key);
    if (found === undefined) continue;
    const isAnswered = answered !== undefined && keys.every((key) => answered.has(key));
    values.set(
      source.name,
      isAnswered ? answered : await backend.values({ source: admitted, state: refOf(found), keys }),
    );
  }
  return values;
}

function wantedFacts(
  readings: readonly SourceReading[],
  { chosen, composed, size }: DataPlan,
  data: SecretData | undefined,
): WantedFacts {
  const sources = readings.map(({ facts }) => facts);
  return {
    sources,
    names: [...chosen.map(({ name }) => name), ...composed],
    origins: new Map(chosen.map(({ name, source }) => [name, source])),
    bytes: data?.bytes ?? size.bytes,
    isBytesExact: data !== undefined || size.isExact,
    unmetNeed: data?.unmetNeed,
    record: targetRecord(sources, { chosen, composed }),
    fingerprint: data?.fingerprint ?? Buffer.of(),
  };
}
