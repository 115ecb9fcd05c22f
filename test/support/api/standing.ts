import { expect } from '@jest/globals';

/** Whether an environment is live or deleted, before, during and after a round of calls at once. */
export class Standing {
  /** At the beginning of the round. */
  wasLive = true;
  /** After the last round. */
  isLive = true;
  /** Deletions and undeletions that changed something, since the beginning. */
  readonly total = { deletions: 0, undeletions: 0 };
  /** What the round's calls were answered. An undeletion may have found the environment live. */
  #round = { deletions: 0, undeletions: 0 };
  #undeleted = 0;

  beginRound(): void {
    this.wasLive = this.isLive;
    this.#round = { deletions: 0, undeletions: 0 };
    this.#undeleted = 0;
  }

  countDeletion(): void {
    this.#round.deletions += 1;
  }

  countUndeletion(): void {
    this.#round.undeletions += 1;
  }

  /** Whether the round's calls may have left another standing than they found. */
  get isInDoubt(): boolean {
    return this.#round.deletions + this.#round.undeletions > 0;
  }

  /** Expects that the deletions and undeletions of the round explain the standing after it. */
  endRound(isLive: boolean): void {
    const { deletions, undeletions } = this.#round;
    // They alternate, so the standings before and after say how many undeletions changed something.
    this.#undeleted = deletions + Number(isLive) - Number(this.wasLive);
    expect(this.#undeleted).toBeGreaterThanOrEqual(0);
    expect(this.#undeleted).toBeLessThanOrEqual(undeletions);
    this.total.deletions += deletions;
    this.total.undeletions += this.#undeleted;
    this.isLive = isLive;
  }

  /** Whether it was deleted at some moment of the round. */
  get mayBeAway(): boolean {
    return !this.wasLive || this.#round.deletions > 0;
  }

  /** Whether it was live at some moment of the round. */
  get mayBeLive(): boolean {
    return this.wasLive || this.#undeleted > 0;
  }

  /** Whether an undeletion of the round ended the tokens of the environment. */
  get hasEndedTokens(): boolean {
    return this.#undeleted > 0;
  }
}
