import { setTimeout as pause } from 'node:timers/promises';
import { ClientError } from '../../../../client/client-error.ts';
import { backoffMs } from '../../../../lib/backoff.ts';
import type { SecretListView } from '../../../../wire/secrets.ts';
import { CliError } from '../../../core/cli-error.ts';
import type { CommandContext } from '../../../core/command.ts';
import type { SecretTable } from '../../../../wire/formats/secret-table.ts';
import type { Scope } from '../../../settings/scope.ts';
import { followChanges } from '../../change/followed-changes.ts';
import { noteOutage } from '../../change/outage-note.ts';
import { differenceLines, differenceOf } from '../difference.ts';
import { readSecrets, shownScope, tableOf } from '../secrets-api.ts';
import { childVariables } from './child-variables.ts';
import type { NewVariables } from './restarted-child.ts';

// A deployment often makes several changes in a row. A steady flow of them must not delay the restart for ever.
const quietMs = 500;
const maxDelayMs = 5_000;
const retryDelays = { initialMs: 1_000, maxMs: 30_000 };
const maxKeys = 10;

export interface WatchedOptions {
  readonly context: CommandContext;
  readonly scope: Scope;
  /** The state that the program was started with. */
  readonly list: SecretListView;
  /** The secrets of it that the program got. */
  readonly secrets: SecretTable;
  /** The variables of this command, without its credentials. */
  readonly own: Readonly<NodeJS.ProcessEnv>;
  /** The secrets of a newer state that the program may get. Throws CliError if it may get none. */
  readonly handedOf: (secrets: SecretTable) => SecretTable;
  readonly signal: AbortSignal;
}

/**
 * Follows an environment and makes variables of each new state. Changes in quick succession are read once. Whatever fails
 * is a warning, and what had been read stays: an outage is retried, and a state that cannot be variables is left out.
 */
export class WatchedVariables {
  readonly #options: WatchedOptions;
  /** The secrets that the program has, or will have with the newest variables. */
  #secrets: SecretTable;
  #newest: NewVariables | undefined;
  #waiting: ((found: NewVariables) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #firstAt: number | undefined;
  #isReading = false;

  constructor(options: WatchedOptions) {
    this.#options = options;
    this.#secrets = options.secrets;
  }

  /** The newest variables that were not returned yet. */
  async next(): Promise<NewVariables> {
    const found = this.#newest;
    this.#newest = undefined;
    return found ?? (await new Promise((resolve) => (this.#waiting = resolve)));
  }

  /** Follows the environment until the signal aborts. */
  async follow(): Promise<void> {
    const { context, scope, signal } = this.#options;
    const { revision, revisionId } = this.#options.list;
    signal.addEventListener('abort', () => clearTimeout(this.#timer));
    const events = followChanges({
      api: context.api,
      scope,
      since: revision === 0 ? '0' : revisionId,
      signal,
      read: async ({ event }) => await Promise.resolve(event),
      onOutage: noteOutage(context),
      isPatient: () => true,
    });
    for await (const event of events) if (event === 'change' || event === 'reset') this.#schedule();
  }

  #schedule(): void {
    const now = performance.now();
    this.#firstAt ??= now;
    clearTimeout(this.#timer);
    const delayMs = Math.min(quietMs, this.#firstAt + maxDelayMs - now);
    this.#timer = setTimeout(() => void this.#read(), delayMs);
  }

  async #read(): Promise<void> {
    // What changes during the read is read after it.
    if (this.#isReading) return this.#schedule();
    this.#isReading = true;
    this.#firstAt = undefined;
    try {
      const list = await this.#readWithRetries();
      if (list !== undefined) this.#take(list);
    } finally {
      this.#isReading = false;
    }
  }

  /** Undefined if the signal aborts first. */
  async #readWithRetries(): Promise<SecretListView | undefined> {
    const { context, scope, signal } = this.#options;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        return await readSecrets(context.api(), scope);
      } catch (error) {
        if (attempt === 1) this.#warnOf(error);
        await pause(backoffMs(attempt, retryDelays), undefined, { signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  #warnOf(error: unknown): void {
    if (!(error instanceof ClientError || error instanceof CliError)) throw error;
    const { context, scope } = this.#options;
    const place = shownScope(scope);
    context.io.warn(`${place} has changed and cannot be read: ${error.message}; the program keeps its values`);
  }

  #take(list: SecretListView): void {
    const { context, scope, own, handedOf } = this.#options;
    try {
      const secrets = handedOf(tableOf(list));
      const lines = differenceLines(differenceOf(this.#secrets, secrets));
      if (lines.length === 0) return;
      const variables = childVariables(own, secrets);
      const shown = lines.slice(0, maxKeys).map(({ sign, key }) => `${sign}${key}`);
      const rest = lines.length > maxKeys ? ` and ${lines.length - maxKeys} more` : '';
      const reason = `${shownScope(scope)} is at revision ${list.revision} (${shown.join(' ')}${rest})`;
      this.#secrets = secrets;
      this.#offer({ variables, reason });
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      context.io.warn(`revision ${list.revision} is left out: ${error.message}; the program keeps its values`);
    }
  }

  #offer(found: NewVariables): void {
    const take = this.#waiting;
    this.#waiting = undefined;
    if (take === undefined) this.#newest = found;
    else take(found);
  }
}
