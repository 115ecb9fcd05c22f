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

/** What was read, in the form for the Secret. */
export interface ReadData {
  readonly wanted: WantedFacts;
  /** Undefined if the values are too large for a Secret: none was read then. */
  readonly data: SecretData | undefined;
}

export interface RollbackInput<Read extends ReadData> {
  readonly context: SyncContext;
  readonly target: TargetFacts;
  /** What the spec asks for. */
  readonly asked: Read;
  /** The data that was abandoned, if any. */
  readonly abandoned: AbandonedData | undefined;
  /** Reads the sources at other states, with the same tokens and for the same spec. */
  readonly readAt: (stateOf: (source: Source) => WantedState) => Promise<Read>;
}

export interface SelectedRevision<Read extends ReadData> {
  /** What the Secret must hold. */
  readonly read: Read;
  /** Why it is not rolled back, as a clause; undefined if it is, or if no rollback is due. */
  readonly refusal: string | undefined;
}

/**
 * Selects the data for a Secret. It is what all workloads converged with, as long as the spec asks for the data that they
 * failed with. Otherwise, or if a rollback is impossible, it is what the spec asks for. Throws what reading throws.
 */
export async function selectRevision<Read extends ReadData>(
  input: RollbackInput<Read>,
): Promise<SelectedRevision<Read>> {
  const { context, asked, readAt } = input;
  const rolledBack = rollbackDue(input);
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

/** The rollback that is due or in effect; undefined if the Secret must hold what the spec asks for. */
function rollbackDue<Read extends ReadData>({
  context,
  target,
  asked,
  abandoned,
}: RollbackInput<Read>): RolledBack | undefined {
  const { resource: sync, memory } = context;
  if (sync.spec.rollout?.onFailure !== 'Rollback') return undefined;
  const data = dataMark(asked.wanted.fingerprint);
  const present = presentRollback(target, memory.rolledBack ?? sync.status?.rolledBack);
  if (present?.data === data && !isTriedAgain(sync, present)) return present;
  return abandoned?.held.data === data ? newRollback(sync, abandoned) : undefined;
}

/** Whether the annotation asks to retry the data that was rolled back. */
function isTriedAgain(sync: SecretSync, { retry }: RolledBack): boolean {
  const asked = retryOf(sync);
  return asked !== undefined && asked !== retry;
}

/** A rollback to what all workloads last converged with; undefined if there is no such state. */
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

/** The former data, with a record that it replaces what the spec asks for. */
function marked<Read extends ReadData>(former: Read, asked: Read, rolledBack: RolledBack): Read {
  const record = { ...former.wanted.record, [rolledBackAnnotation]: formatRolledBack(rolledBack) };
  return { ...former, wanted: { ...former.wanted, record, rolledBack, asked: asked.wanted.sources } };
}

/** Turns an error of the spec with former data, for example a value that is not base64, into an obstacle to the rollback. */
export function orFormerStateError<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new FormerStateError(error.detail, { cause: error });
  }
}
