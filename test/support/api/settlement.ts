import { expect } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

/**
 * What came of a call on an environment. `revision` is set where it changed that: it is its place in the one order of
 * all changes, and `settle` is run when a model is at the revision before. All others are settled after the changes.
 */
export interface Settlement {
  readonly revision?: number;
  settle(): void;
}

/** Of a call that was not made. */
export const nothing: Settlement = { settle: () => undefined };

export interface Judges<Answer> {
  /** The codes that the call may be refused with, and whether a refusal was right. */
  readonly refusals?: Readonly<Record<string, () => boolean>>;
  readonly answered: (answer: Answer) => Settlement;
}

/** Waits for a call; throws what it throws, unless that is one of the refusals. */
export async function settlementOf<Answer>(
  call: Promise<Answer>,
  { refusals = {}, answered }: Judges<Answer>,
): Promise<Settlement> {
  let answer: Answer;
  try {
    answer = await call;
  } catch (error) {
    const code = error instanceof DomainError ? error.code : '';
    const isRight = refusals[code];
    if (isRight === undefined) throw error;
    return { settle: () => expect({ code, isRight: isRight() }).toEqual({ code, isRight: true }) };
  }
  return answered(answer);
}
