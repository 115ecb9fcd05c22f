import { readJwt } from '../../client/jwt.ts';
import type { TokenSource } from '../../client/token-source.ts';
import { isTokenAudience } from '../../wire/audiences.ts';
import { usageError } from '../core/cli-error.ts';
import type { RunnerRequest } from './github-runner.ts';
import { audienceStep } from './token-form.ts';

// A JWT is replaced when this part of its life is over: that of GitHub has a minute left then.
const usedPart = 0.8;
// One that is younger, and would not be replaced yet, was refused for what it says, as the next one would be.
const youngMs = 30_000;

interface HeldJwt {
  readonly jwt: string;
  readonly since: number;
  readonly lifeMs: number;
}

/**
 * JWTs of the job of GitHub that the command runs in. The runner is asked for one before the first request, and for another
 * before it ends. Nothing is stored. Their life is measured, because the clock of the runner may be wrong.
 */
export class RunnerToken implements TokenSource {
  readonly #request: RunnerRequest;
  #held: HeldJwt | undefined;

  /** Throws CliError usage for an audience of another form, before anything is sent. */
  constructor(request: RunnerRequest) {
    this.#request = request;
    if (!isTokenAudience(request.audience)) {
      throw usageError('KEYFRAME_AUDIENCE must have the form keyframe/<instance>/service-tokens/<id>', audienceStep);
    }
  }

  async current(): Promise<string> {
    const held = this.#held;
    if (held === undefined) return await this.#ask();
    const age = performance.now() - held.since;
    if (age < held.lifeMs * usedPart) return held.jwt;
    try {
      return await this.#ask();
    } catch (error) {
      // It is valid for a while yet, and the runner may answer the next request.
      if (age < held.lifeMs) return held.jwt;
      throw error;
    }
  }

  async after(refused: string): Promise<string | undefined> {
    const held = this.#held;
    if (held !== undefined && held.jwt !== refused) return held.jwt;
    return held !== undefined && isYoung(held) ? undefined : await this.#ask();
  }

  async #ask(): Promise<string> {
    const { askRunner } = await import('./github-runner.ts');
    const since = performance.now();
    const jwt = await askRunner(this.#request);
    const { issuedAt = 0, expiresAt = 0 } = readJwt(jwt);
    this.#held = { jwt, since, lifeMs: expiresAt - issuedAt };
    return jwt;
  }
}

function isYoung({ since, lifeMs }: HeldJwt): boolean {
  return performance.now() - since < Math.min(youngMs, lifeMs * usedPart);
}
