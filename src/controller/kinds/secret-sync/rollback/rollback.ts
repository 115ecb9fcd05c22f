import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { dataMark } from '../../rollout/restart-mark.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { AbandonedData } from '../../rollout/stuck.ts';
import { dataDiffers, sourcesDiffer } from '../messages.ts';
import { FormerStateError } from '../read/former-state.ts';
import type { SyncContext } from '../model.ts';
import { formatRolledBack, presentRollback, retryOf } from './rolled-back.ts';
import type { SecretData } from '../data/secret-data.ts';
import type { Source } from '../spec/source.ts';
import type { WantedState } from '../read/state.ts';
import { rolledBackAnnotation } from '../../../annotations.ts';
import { type RolledBack, type WantedFacts, type TargetFacts } from '../model.ts';

/** What was read, as the Secret would have it. */
export interface ReadData {
  readonly wanted: WantedFacts;
  /** Undefined if the values are more than a Secret holds: none was read then. */
  readonly data: SecretData | undefined;
}

export interface RollbackQuestion<Read extends ReadData> {
  readonly context: SyncContext;
  readonly target: TargetFacts;
  /** What the spec asks for. */
  readonly asked: Read;
  /** What was found to fail, if anything was. */
  readonly abandoned: AbandonedData | undefined;
  /** Reads the sources at other states, by the same tokens and for the same spec. */
  readonly readAt: (stateOf: (source: Source) => WantedState) => Promise<Read>;
}

export interface HeldBack<Read extends ReadData> {
  /** What the Secret shall hold. */
  readonly read: Read;
  /** Why it is not taken back, as a clause; undefined where it is, or where that was not asked for. */
  readonly refusal: string | undefined;
}

/**
 * What a Secret shall hold instead of what its spec asks for: what all workloads converged with, as long as the spec asks
 * for just the data that they failed with. Where that cannot be, what the spec asks for. Throws what reading throws.
 */
export async function heldBack<Read extends ReadData>(question: RollbackQuestion<Read>): Promise<HeldBack<Read>> {
  const { context, asked, readAt } = question;
  const rolledBack = rollbackDue(question);
  if (rolledBack === undefined) return { read: asked, refusal: undefined };
  try {
    const former = await readAt((source) => stateIn(rolledBack, source));
    if (dataMark(former.wanted.fingerprint) !== rolledBack.held.data) {
      throw new FormerStateError(dataDiffers);
    }
    return { read: marked(former, asked, rolledBack), refusal: undefined };
  } catch (error) {
    if (!(error instanceof FormerStateError)) throw error;
    context.memory.rolledBack = undefined;
    return { read: asked, refusal: error.message };
  }
}

/** To what a Secret is to be taken back, or stays taken back; undefined where it is to hold what the spec asks for. */
function rollbackDue<Read extends ReadData>({
  context,
  target,
  asked,
  abandoned,
}: RollbackQuestion<Read>): RolledBack | undefined {
  const { resource: sync, memory } = context;
  if (sync.spec.rollout?.onFailure !== 'Rollback') return undefined;
  const data = dataMark(asked.wanted.fingerprint);
  const present = presentRollback(target, memory.rolledBack ?? sync.status?.rolledBack);
  if (present?.data === data && !isTriedAgain(sync, present)) return present;
  return abandoned?.held.data === data ? newRollback(sync, abandoned) : undefined;
}

/** Whether the annotation asks for another try of what was taken back. */
function isTriedAgain(sync: SecretSync, { retry }: RolledBack): boolean {
  const asked = retryOf(sync);
  return asked !== undefined && asked !== retry;
}

/** To what all workloads converged with last; undefined where there is nothing such. */
function newRollback(sync: SecretSync, { held, reason }: AbandonedData): RolledBack | undefined {
  const { converged } = sync.status ?? {};
  if (converged === undefined || converged.data === held.data) return undefined;
  const retry = retryOf(sync);
  const from = { data: held.data, sources: [...held.sources] };
  const to = { data: converged.data, sources: converged.sources };
  return { ...from, held: to, cause: reason, ...(retry === undefined ? {} : { retry }) };
}

function stateIn({ held: { sources } }: RolledBack, { name }: Source): WantedState {
  const state = sources.find((source) => source.name === name);
  if (state === undefined) throw new FormerStateError(sourcesDiffer);
  return { kind: 'past', revisionId: state.revisionId };
}

/** The former data with the word in its record that it is held instead of what was asked for. */
function marked<Read extends ReadData>(former: Read, asked: Read, rolledBack: RolledBack): Read {
  const record = { ...former.wanted.record, [rolledBackAnnotation]: formatRolledBack(rolledBack) };
  return { ...former, wanted: { ...former.wanted, record, rolledBack, asked: asked.wanted.sources } };
}

/** What a spec does not make of former data, as where a value of then is not base64, it does not go back to. */
export function orFormerStateError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new FormerStateError(error.detail, { cause: error });
  }
}
