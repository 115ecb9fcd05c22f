import { expect } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { EnvironmentModel } from './environment-model.ts';
import type { Standing } from './standing.ts';

/**
 * What came of a call. If it found environments at certain revisions, `settle` is run when the models are at them, and must
 * bring the model that it changed to its next one. All others are settled last.
 */
export interface Settlement {
  /** Found at one moment. */
  readonly found?: readonly Found[];
  /** The model that it changed. */
  readonly changed?: EnvironmentModel;
  settle(): void;
}

export interface Found {
  readonly model: EnvironmentModel;
  readonly revision: number;
  /** Whether it was a past revision: the model may have gone on since. */
  readonly isPast?: boolean;
}

/** Of a call that was not made. */
export const nothing: Settlement = { settle: () => undefined };

export interface Judges<Answer> {
  /** The environments that the call needs. */
  readonly standings: readonly Standing[];
  /** Whether the caller's token is made for one of these environments, and so ends with it. */
  readonly isTied?: boolean;
  /** The codes that the call may be refused with, and whether a refusal was right. */
  readonly refusals?: Readonly<Record<string, () => boolean>>;
  readonly answered: (answer: Answer) => Settlement;
}

/** Waits for a call; throws what it throws, unless that is one of the refusals, or says that an environment is deleted. */
export async function settlementOf<Answer>(
  call: Promise<Answer>,
  { standings, isTied = false, refusals = {}, answered }: Judges<Answer>,
): Promise<Settlement> {
  const mayBeAway = (): boolean => standings.some((standing) => standing.mayBeAway);
  const { not_found: isAbsent = (): boolean => false } = refusals;
  const allowed: Judges<Answer>['refusals'] = {
    ...refusals,
    not_found: () => mayBeAway() || isAbsent(),
    ...(isTied ? { unauthenticated: mayBeAway } : {}),
  };
  let answer: Answer;
  try {
    answer = await call;
  } catch (error) {
    const code = error instanceof DomainError ? error.code : '';
    const isRight = allowed[code];
    if (isRight === undefined) throw error;
    return { settle: () => expect({ code, isRight: isRight() }).toEqual({ code, isRight: true }) };
  }
  const settlement = answered(answer);
  return {
    ...settlement,
    settle: () => {
      // An undeletion ends the tokens of its environment.
      for (const standing of standings) expect(isTied ? standing.wasLive : standing.mayBeLive).toBe(true);
      settlement.settle();
    },
  };
}

/** Settles the calls of a round: those that found revisions in an order in which each finds them, then the others. */
export function settleAll(settlements: readonly Settlement[]): void {
  const waiting = settlements.filter(({ found }) => found !== undefined);
  while (waiting.length > 0) {
    const next = waiting.find((settlement) => isNext(settlement, waiting));
    if (next === undefined) throw new Error(`no order of the calls explains their answers: ${describe(waiting)}`);
    waiting.splice(waiting.indexOf(next), 1);
    const { changed } = next;
    const before = changed?.revision ?? 0;
    next.settle();
    if (changed !== undefined) expect(changed.revision).toBe(before + 1);
  }
  for (const other of settlements.filter(({ found }) => found === undefined)) other.settle();
}

function isNext(settlement: Settlement, waiting: readonly Settlement[]): boolean {
  const { found = [], changed } = settlement;
  if (!found.every(isPresent)) return false;
  // A change ends the moment that others found.
  const needsPresent = ({ model, isPast = false, ...one }: Found): boolean =>
    model === changed && !isPast && isPresent({ model, ...one });
  return waiting.every(
    (other) => other === settlement || other.changed === changed || !other.found?.some(needsPresent),
  );
}

function isPresent({ model, revision, isPast = false }: Found): boolean {
  return isPast ? model.revision >= revision : model.revision === revision;
}

function describe(waiting: readonly Settlement[]): string {
  const one = ({ model, revision, isPast = false }: Found): string =>
    `${revision}${isPast ? ' (past)' : ''} of an environment at ${model.revision}`;
  return waiting.map(({ found = [] }) => found.map(one).join(' with ')).join('; ');
}
