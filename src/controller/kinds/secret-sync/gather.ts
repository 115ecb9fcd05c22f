import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../domain/plaintext.ts';
import type { ObjectMeta } from '../../../kube/client/objects.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import type { Rollouts } from '../rollout/rollouts.ts';
import type { BoundedReads } from './read/bounded-reads.ts';
import { withClaims } from './target/claims.ts';
import { observeSharedTarget } from './target/observe-shared.ts';
import { type ObserveDeps, observeTarget } from './target/observe.ts';
import { replacedSourceError } from './judge/replaced-source.ts';
import type { SyncContext } from './model.ts';
import type { ReadDeps, SourceReading } from './read/read.ts';
import { type ReadPlan, type SourceReadings, SourceRefusedError, readSources } from './read/read-sources.ts';
import { isMerge, targetKeyOf } from './spec/resource.ts';
import { type ReadData, selectRevision, orFormerStateError } from './rollback/rollback.ts';
import {
  type ChosenValues,
  type DataPlan,
  type SecretData,
  encodeSecretData,
  planSecretData,
} from './data/secret-data.ts';
import type { SourceToken } from './tokens/token-place.ts';
import { minRecordBytes, targetRecord } from './target/target-record.ts';
import { recordTooLong } from './messages.ts';
import { type Facts, type SourceState, type WantedFacts, maxAnnotationBytes, maxSecretBytes } from './model.ts';

export interface GatherDeps extends ObserveDeps, ReadDeps {
  readonly rollouts: Pick<Rollouts, 'abandoned'>;
}

export interface Gathered {
  readonly facts: Facts;
  /** The states that the sources were read at, also if their data cannot be united; undefined if they were not read. */
  readonly read: readonly SourceState[] | undefined;
  /** The target's metadata, if the SecretSync may write it. */
  readonly existing: ObjectMeta | undefined;
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

export interface GatherPlan {
  /** Whether to read the target itself instead of the watch's copy. */
  readonly fresh: boolean;
  /** The tokens of the sources. */
  readonly tokens: readonly SourceToken[];
  readonly reads: BoundedReads;
}

/**
 * Gathers the facts: first the target, then the environments. With this order an older state never wins: a write is bound
 * to the version that the target had before the environments were read. Throws ApiError and AllowanceExceededError. An
 * error of a token or an environment is part of the facts.
 */
export async function gather(
  deps: GatherDeps,
  context: SyncContext,
  { fresh, tokens, reads }: GatherPlan,
): Promise<Gathered> {
  const { resource: sync } = context;
  const observed = await (isMerge(sync) ? observeSharedTarget : observeTarget)(deps, context, fresh);
  const { target, existing } = withClaims(deps, context, observed);
  const facts = { sync, target };
  // If the target cannot be written, no secret is read.
  if (target.state === 'unmanaged' || target.state === 'claimed' || target.state === 'mergeForbidden')
    return { ...nothingRead, facts: { ...facts, wanted: undefined }, existing };
  const objection: ReadPlan['objection'] = (sources) => replacedSourceError(sync, target, sources);
  let read: Gathered['read'];
  try {
    const plan = { tokens, objection, reads };
    const sources = await readSources(deps, context, plan);
    read = sources.readings.map((reading) => reading.facts);
    const asked = await united(deps, sync, { ...sources, reads });
    const selected = await selectRevision({
      context,
      target,
      asked,
      abandoned: deps.rollouts.abandoned(sync),
      readAt: async (stateOf) => {
        const former = await readSources(deps, context, { ...plan, stateOf });
        return await united(deps, sync, { ...former, reads }, orFormerStateError);
      },
    });
    const { wanted, data, tokenExpiresAt, confirm } = selected.read;
    const known = { facts: { ...facts, wanted }, existing, read, rollbackRefusal: selected.refusal };
    return { ...nothingRead, ...known, data, tokenExpiresAt, confirm };
  } catch (error) {
    const { refusal, isUnsettled } = error instanceof SourceRefusedError ? error : settled(error);
    return { ...nothingRead, facts: { ...facts, wanted: refusal }, existing, read, isUnsettled };
  }
}

const nothingRead = {
  read: undefined,
  data: undefined,
  tokenExpiresAt: undefined,
  confirm: (): void => {},
  isUnsettled: false,
  rollbackRefusal: undefined,
};

/** The data of all sources together. `guarded` handles errors of what cannot be united. */
async function united(
  deps: GatherDeps,
  sync: SecretSync,
  { readings, reads, ...others }: SourceReadings & Pick<Readings, 'reads'>,
  guarded: Guard = (make) => make(),
): Promise<ReadData & Omit<SourceReadings, 'readings'>> {
  return { ...(await unite(deps, sync, { readings, reads, guarded })), ...others };
}

function settled(error: unknown): { readonly refusal: DomainError; readonly isUnsettled: boolean } {
  if (!(error instanceof DomainError)) throw error;
  return { refusal: error, isUnsettled: false };
}

/** Handles the errors of what cannot be united. */
type Guard = <T>(make: () => T) => T;

interface Readings {
  readonly readings: readonly SourceReading[];
  readonly reads: BoundedReads;
  readonly guarded: Guard;
}

/** What the Secret must hold: the data of all sources together. If it is too large for a Secret, no value is read. */
async function unite(
  { fingerprint }: GatherDeps,
  sync: SecretSync,
  { readings, reads, guarded }: Readings,
): Promise<ReadData> {
  const plan = await planned(sync, { readings, reads, guarded });
  if (plan.size.bytes > maxSecretBytes) {
    await readChosen(readings, reads, []);
    return { wanted: wantedFacts(readings, plan, undefined), data: undefined };
  }
  reads.expectValues(plan.valueBytes);
  const values = await readChosen(readings, reads, plan.needed);
  const data = guarded(() => encodeSecretData(fingerprint, targetKeyOf(sync), plan, values));
  return { wanted: wantedFacts(readings, plan, data), data };
}

async function planned(sync: SecretSync, { readings, reads, guarded }: Readings): Promise<DataPlan> {
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
    await readChosen(readings, reads, []);
    throw error;
  }
}

/**
 * Reads the needed values of each source with its own token, one source at a time: a SecretSync with many sources must not
 * take all connections to the database.
 */
async function readChosen(
  readings: readonly SourceReading[],
  reads: BoundedReads,
  needed: DataPlan['needed'],
): Promise<ChosenValues> {
  const values = new Map<string | undefined, ReadonlyMap<string, Plaintext>>();
  for (const { source, access, found } of readings) {
    const keys = needed.filter((placed) => placed.source === source.name).map(({ key }) => key);
    if (found !== undefined) values.set(source.name, await reads.read(access, found, keys));
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
