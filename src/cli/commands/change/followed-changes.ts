import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../../../client/api-client.ts';
import { streamOf } from '../../../client/call.ts';
import { ClientError } from '../../../client/client-error.ts';
import { backoffMs } from '../../../lib/backoff.ts';
import type { StreamEventView } from '../../../wire/changes.ts';
import { CliError } from '../../core/cli-error.ts';
import { type Scope, scopeParams } from '../../settings/scope.ts';

const reconnectDelays = { initialMs: 1_000, maxMs: 30_000 };

export interface FollowOptions<Item> {
  /** Called for each connection, so that a token in a file may be replaced. */
  readonly api: () => ApiClient;
  readonly scope: Scope;
  /** Number or id of the revision after which the changes begin; by default the current one. */
  readonly since?: string | undefined;
  /** Ends the loop, without an error. */
  readonly signal: AbortSignal;
  /** Completes an event. If it throws an outage, the event comes again after the next connection. */
  readonly read: (event: StreamEventView, api: ApiClient) => Promise<Item>;
  /** Called before each wait for another connection. */
  readonly onOutage: (error: ClientError | CliError | undefined) => void;
  /** Whether to keep trying after this error; by default after an outage, if there was a connection before. */
  readonly isPatient?: (error: ClientError | CliError, hadConnection: boolean) => boolean;
}

/**
 * Follows the changes of an environment (docs/interface.md 4.10), each once and in order. If the connection ends, it is made
 * again with exponential backoff and continues after the last event.
 *
 * @throws ClientError if `isPatient` returns false, and what `read` throws.
 */
export async function* followChanges<Item>({
  api,
  scope,
  since,
  signal,
  read,
  onOutage,
  isPatient = isLaterOutage,
}: FollowOptions<Item>): AsyncGenerator<Item, void> {
  const endpoint = 'GET /changes/{org}/{project}/{env}';
  const request = { params: scopeParams(scope), query: { since }, signal };
  let lastId: string | undefined;
  let hadConnection = false;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    let failure: ClientError | CliError | undefined;
    try {
      const client = api();
      for await (const event of streamOf(client, endpoint, { ...request, lastEventId: lastId })) {
        const item = await read(event, client);
        hadConnection = true;
        attempt = 1;
        lastId = event.id ?? lastId;
        yield item;
      }
    } catch (error) {
      failure = knownError(error);
      if (!signal.aborted && !isPatient(failure, hadConnection)) throw error;
    }
    if (signal.aborted) return;
    onOutage(failure);
    await pause(backoffMs(attempt, reconnectDelays), undefined, { signal }).catch(() => undefined);
  }
}

function isLaterOutage(error: ClientError | CliError, hadConnection: boolean): boolean {
  return hadConnection && error instanceof ClientError && error.isOutage;
}

/** Throws any other error: it is a bug. */
function knownError(error: unknown): ClientError | CliError {
  if (error instanceof ClientError || error instanceof CliError) return error;
  throw error;
}
