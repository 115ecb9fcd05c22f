import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { errorFields, type Logger } from '../observability/logger.ts';
import { type DatabaseAddress, connectionOptions } from './address.ts';
import { describedError } from './store-error.ts';
import { setUpSession } from './session.ts';
import { tlsFault } from './tls-fault.ts';

export interface ConnectOptions extends DatabaseAddress {
  readonly logger: Logger;
  /**
   * How long to try again if nothing answers, PostgreSQL is starting or takes no writes or no more connections, or its
   * certificate has expired; 0 for one try.
   */
  readonly waitMs: number;
}

const pauseMs = 500;
// It is starting or stopping, or takes no more connections.
const passingStates: ReadonlySet<string | undefined> = new Set(['57P03', '53300']);

/**
 * Connects one client. Its own errors go to the code that runs a statement on it. A refusal of PostgreSQL, such as that
 * of a password, is final, and so is a certificate that no renewal makes right. Throws what pg throws.
 */
export async function connectPatiently(options: ConnectOptions): Promise<pg.Client> {
  const untilMs = performance.now() + options.waitMs;
  let isReported = false;
  for (;;) {
    try {
      return await connect(options);
    } catch (error) {
      if (!mayAnswerLater(error) || performance.now() + pauseMs >= untilMs) throw error;
      if (!isReported)
        options.logger.info(errorFields(describedError(error)), 'the database does not answer yet: waiting for it');
      isReported = true;
      await pause(pauseMs);
    }
  }
}

/** Connects one client, with one try. Throws what pg throws. */
export async function connect(address: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionOptions(address),
    application_name: 'keyframe-migrate',
    connectionTimeoutMillis: 5_000,
  });
  // What breaks the connection fails the statement under way as well.
  client.on('error', () => {});
  try {
    await client.connect();
    await setUpSession(client);
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
}

function mayAnswerLater(error: unknown): boolean {
  const fault = tlsFault(error)?.fault;
  // A server that takes no writes is no refusal of PostgreSQL's: `setUpSession` throws it.
  // Operators of PostgreSQL renew its certificate, and a clock that has just started is corrected.
  if (fault !== undefined) return fault === 'expired';
  return !(error instanceof pg.DatabaseError) || passingStates.has(error.code);
}
