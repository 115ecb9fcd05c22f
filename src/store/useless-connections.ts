import type pg from 'pg';
import { isStalePlan } from './store-error.ts';
import { readOnlyState } from './session.ts';

// Connection failures, a server that shuts down, transactions that were ended for their age, too many connections, and a
// server that takes no writes. Not 57014: a statement that was cancelled leaves a connection that works.
const connectionStates = /^(?:08...|57P0.|25P03|25P04|53300|25006)$/;

/** Whether an error of PostgreSQL belongs to its connection: another statement on it would fail too. */
export function endsConnection(error: { readonly code?: string | undefined }): boolean {
  return connectionStates.test(error.code ?? '') || isStalePlan(error);
}

/**
 * Ends the connections that `endsConnection` names when they return to their pool, whichever client used them: pg and
 * Prisma's adapter also return those on which a rollback succeeded. Returns a function that does the same to every
 * connection that is open now, the idle ones at once. It is also called for each error of a server that takes no
 * writes, because the other connections lead to that server too.
 */
export function endUselessConnections(pools: readonly pg.Pool[]): () => void {
  // A connection is useless if it was opened in an earlier generation than the present one.
  let generation = 1;
  const generations = new WeakMap<pg.PoolClient, number>();
  const endAll = (): void => {
    generation += 1;
    for (const pool of pools) returnIdle(pool);
  };
  for (const pool of pools) {
    pool.on('connect', (client) => {
      generations.set(client, generation);
      connectionOf(client).on('errorMessage', (error: pg.DatabaseError) => {
        if (endsConnection(error)) generations.set(client, 0);
        if (error.code === readOnlyState) endAll();
      });
    });
    // The pool removes a client that has ended, and waits for nothing of it.
    pool.on('release', (_error, client) => {
      if ((generations.get(client) ?? 0) < generation) void client.end();
    });
  }
  return endAll;
}

/** Takes the idle connections out of their pool and returns them. */
function returnIdle(pool: pg.Pool): void {
  for (let count = pool.idleCount; count > 0; count -= 1) {
    pool.connect().then(
      (client) => client.release(),
      () => undefined,
    );
  }
}

/** A pool's clients are whole clients. */
function connectionOf(client: pg.PoolClient): pg.Connection {
  return (client as pg.PoolClient & Pick<pg.Client, 'connection'>).connection;
}
