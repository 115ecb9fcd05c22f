import { readFileSync } from 'node:fs';
import { DomainError } from '../domain/errors/domain-error.ts';
import { errorFields } from '../observability/logger.ts';
import { type SteadyNow, steadyNow } from '../lib/clock.ts';

// Each refusal counts as a guess of this address.
const refusedForMs = 10_000;

/**
 * The token of this cluster, from its file. It is read at each use, because Kubernetes replaces the file before the token
 * ends. If it cannot be read at that moment, the last token is used. So is the one before while the server refuses a new one:
 * servers read the home token from a file too, which Kubernetes replaces at another moment.
 */
export class TokenFile {
  readonly #path: string;
  readonly #now: SteadyNow;
  #last: string | undefined;
  /** The last one that the server accepted. */
  #accepted: string | undefined;
  /** The one that it refused, and until when that counts. */
  #refused: { readonly token: string; readonly untilMs: number } | undefined;

  constructor(path: string, now: SteadyNow = steadyNow) {
    this.#path = path;
    this.#now = now;
  }

  /** Throws DomainError cluster_unknown without a token. */
  current(): string {
    const newest = this.#newest();
    const isRefused = this.#refused?.token === newest && this.#now() < this.#refused.untilMs;
    return isRefused ? (this.#accepted ?? newest) : newest;
  }

  /** Notes that the server accepts a token. */
  accept(token: string): void {
    this.#accepted = token;
  }

  /** Notes that the server refuses a token. Returns another one to try, if there is one. Throws as `current`. */
  refuse(token: string): string | undefined {
    const newest = this.#newest();
    if (token !== newest) return newest;
    if (this.#accepted === undefined || this.#accepted === token) return undefined;
    this.#refused = { token, untilMs: this.#now() + refusedForMs };
    return this.#accepted;
  }

  #newest(): string {
    try {
      const text = readFileSync(this.#path, 'utf8').trim();
      if (text !== '') this.#last = text;
    } catch (error) {
      if (this.#last === undefined) {
        const { code } = errorFields(error);
        throw new DomainError(
          'cluster_unknown',
          `the file of KEYFRAME_CLUSTER_TOKEN_FILE cannot be read (${String(code)}): mount the token of the cluster there`,
        );
      }
    }
    if (this.#last === undefined) {
      throw new DomainError(
        'cluster_unknown',
        'the file of KEYFRAME_CLUSTER_TOKEN_FILE is empty: mount the token of the cluster there',
      );
    }
    return this.#last;
  }
}
