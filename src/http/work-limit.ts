import type { ServerResponse } from 'node:http';
import { DomainError } from '../domain/domain-error.ts';

// Far more than the database's connections can be kept busy with. What waits longer is better told so: each may hold a
// body of 8 MiB in memory.
const defaultMost = 1_000;

/** Bounds how many requests are under way at once, from their authentication to the end of their answer. */
export class WorkLimit {
  readonly #most: number;
  #underWay = 0;

  constructor(most: number = defaultMost) {
    this.#most = most;
  }

  /** Takes a place until the answer is out or its connection gone. Throws DomainError overloaded where none is free. */
  enter(response: ServerResponse): void {
    if (this.#underWay >= this.#most) throw new DomainError('overloaded', 'too many requests are under way; try again');
    this.#underWay += 1;
    response.once('close', () => void (this.#underWay -= 1));
  }
}
