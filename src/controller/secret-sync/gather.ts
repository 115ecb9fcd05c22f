import { DomainError } from '../../domain/domain-error.ts';
import type { ObjectMeta } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { Rollouts } from '../rollout/rollouts.ts';
import type { Facts, WantedFacts } from './judge.ts';
import { type LookDeps, lookAtTarget } from './look.ts';
import type { ReadDeps, Round, SourceReading } from './read.ts';
import { type ReadPlan, SourceRefusedError, readSources } from './read-sources.ts';
import { targetKeyOf } from './resource.ts';
import { type ReadData, heldBack, orFormerStateError } from './rollback.ts';
import { type SecretData, encodeSecretData } from './secret-data.ts';
import type { TokenPlace } from './service-token.ts';
import { targetRecord } from './target-record.ts';

export interface GatherDeps extends LookDeps, ReadDeps {
  readonly rollouts: Pick<Rollouts, 'givenUp'>;
}

export interface Gathered {
  readonly facts: Facts;
  /** The target's metadata, where it is ours to write. */
  readonly existing: ObjectMeta | undefined;
  /** The values of all sources, where they could be read. */
  readonly data: SecretData | undefined;
  /** When the first of the tokens ends; null where none does, undefined where nothing was read. */
  readonly tokenExpiresAt: Date | null | undefined;
  /** Whether the trouble with a token will be over or explained at any moment. */
  readonly isUnsettled: boolean;
  /** Why the Secret is not taken back though its data was given up, as a clause. */
  readonly rollbackRefusal: string | undefined;
}

/**
 * Sees what is: first the target, then the environments. This order is what lets no older state win: a write is bound to
 * the version that the target had before the environments were read. `fresh` looks at the target itself, not at what a
 * watch told; the tokens of the sources are at `places`. Throws ApiError; what a token or an environment refuses is part of
 * the facts.
 */
export async function gather(
  deps: GatherDeps,
  round: Round,
  { fresh, places }: { readonly fresh: boolean; readonly places: readonly TokenPlace[] },
): Promise<Gathered> {
  const { target, existing } = await lookAtTarget(deps, round, fresh);
  const facts = { sync: round.sync, target };
  // Nothing is read that could not be written.
  if (target.state === 'foreign' || target.state === 'barred')
    return { ...nothingRead, facts: { ...facts, wanted: undefined }, existing };
  try {
    const asked = await readAndUnite(deps, round, { places });
    const { read, refusal: rollbackRefusal } = await heldBack({
      round,
      target,
      asked,
      givenUp: deps.rollouts.givenUp(round.sync),
      readAt: async (stateOf) => await readAndUnite(deps, round, { places, stateOf }, orFormerStateError),
    });
    const { wanted, data, tokenExpiresAt } = read;
    return { ...nothingRead, facts: { ...facts, wanted }, existing, data, tokenExpiresAt, rollbackRefusal };
  } catch (error) {
    const { refusal, isUnsettled } = error instanceof SourceRefusedError ? error : settled(error);
    return { ...nothingRead, facts: { ...facts, wanted: refusal }, existing, isUnsettled };
  }
}

const nothingRead = { data: undefined, tokenExpiresAt: undefined, isUnsettled: false, rollbackRefusal: undefined };

/** Reads all sources, each at the state that it asks for unless told; `guarded` has its say about what cannot be united. */
async function readAndUnite(
  deps: GatherDeps,
  round: Round,
  plan: ReadPlan,
  guarded: (make: () => ReadData) => ReadData = (make) => make(),
): Promise<ReadData & { readonly tokenExpiresAt: Date | null }> {
  const { readings, tokenExpiresAt } = await readSources(deps, round, plan);
  return { ...guarded(() => unite(deps, round.sync, readings)), tokenExpiresAt };
}

function settled(error: unknown): { readonly refusal: DomainError; readonly isUnsettled: boolean } {
  if (!(error instanceof DomainError)) throw error;
  return { refusal: error, isUnsettled: false };
}

/** What the Secret shall hold: what all sources give together. */
function unite({ fingerprint }: GatherDeps, sync: SecretSync, readings: readonly SourceReading[]): ReadData {
  const { template, target } = sync.spec;
  const data = encodeSecretData(fingerprint, targetKeyOf(sync), readings, { template, type: target.type });
  const { chosen, composed, bytes, unmetNeed, fingerprint: digest } = data;
  const sources = readings.map(({ facts }) => facts);
  const wanted: WantedFacts = {
    sources,
    names: [...chosen.map(({ name }) => name), ...composed],
    origins: new Map(chosen.map(({ name, source }) => [name, source])),
    bytes,
    unmetNeed,
    record: targetRecord(sources, { chosen, composed }),
    fingerprint: digest,
  };
  return { wanted, data };
}
