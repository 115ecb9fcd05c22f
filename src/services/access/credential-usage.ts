import type { Clock } from '../../lib/clock.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { type CredentialKind, touchCredentials } from '../../store/credentials.ts';
import type { Database } from '../../store/database.ts';
import { touchKeylessTokens } from '../../store/keyless-tokens.ts';

/** What was used: a credential, or a token that has none. */
export type UsedKind = CredentialKind | 'keyless_token';

export interface CredentialUsageDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const collectMs = 200;
// Beyond this many the oldest uses are written first and further ones noted at their next use.
const waitingLimit = 10_000;

/**
 * Records when credentials were used, in batches and outside of the requests: none waits for it or fails because of it.
 * A credential whose use is noted less than a minute ago is not due (`findCredentials`), so this stays rare.
 */
export class CredentialUsage {
  readonly #deps: CredentialUsageDeps;
  readonly #waiting: Readonly<Record<UsedKind, Set<string>>> = {
    service_token: new Set(),
    personal_token: new Set(),
    session: new Set(),
    keyless_token: new Set(),
  };
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> | undefined;

  constructor(deps: CredentialUsageDeps) {
    this.#deps = deps;
  }

  /** Records that a credential, or a keyless token, was used just now. */
  note(kind: UsedKind, id: string): void {
    if (this.#waiting[kind].size < waitingLimit) this.#waiting[kind].add(id);
    this.#cancelTimer ??= this.#deps.clock.after(collectMs, () => void this.#flush());
  }

  /** Writes what waits now, and returns when that is done. */
  async drain(): Promise<void> {
    await this.#flush();
  }

  async #flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    await this.#writing;
    this.#writing = this.#write();
    await this.#writing;
  }

  async #write(): Promise<void> {
    for (const kind of ['service_token', 'personal_token', 'session', 'keyless_token'] as const) {
      const ids = [...this.#waiting[kind]];
      this.#waiting[kind].clear();
      try {
        await touch(this.#deps.database.pool, kind, ids);
      } catch (error) {
        this.#deps.logger.warn(errorFields(error), 'the last use of credentials was not noted');
      }
    }
  }
}

async function touch(pool: Database['pool'], kind: UsedKind, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  if (kind === 'keyless_token') await touchKeylessTokens(pool, ids);
  else await touchCredentials(pool, kind, ids);
}
