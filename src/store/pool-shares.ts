import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { DomainError } from '../domain/errors/domain-error.ts';
import { KeyedLimiter } from '../lib/keyed-limiter.ts';

/**
 * How many connections of a pool one owner uses at the same time. Work has an owner because of the request that it is for,
 * through all functions that it calls: so no statement is left out, and none of them needs to know of it.
 */

// So that several owners keep others waiting only together.
const share = 1 / 3;
const minConnections = 2;
// As long as anyone waits for a connection.
const waitMs = 5_000;

const owners = new AsyncLocalStorage<string | undefined>();
const limiters = new WeakMap<pg.Pool, KeyedLimiter>();

/** Runs work whose statements count for this owner. Without an owner they have no limit, also within work that has one. */
export async function workFor<T>(owner: string | undefined, work: () => Promise<T>): Promise<T> {
  return await owners.run(owner, work);
}

/** For whom the present work is; undefined for everyone without a share. */
export function presentOwner(): string | undefined {
  return owners.getStore();
}

/**
 * Runs work that uses one connection of the pool, when its owner may have one more. It must not wait for another share of
 * the same pool. Throws what the work throws, and DomainError overloaded if its turn does not come in time.
 */
export async function inShare<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const owner = presentOwner();
  return owner === undefined ? await work() : await limiterOf(pool).run(owner, work);
}

function limiterOf(pool: pg.Pool): KeyedLimiter {
  const limiter = limiters.get(pool) ?? newLimiter(pool.options.max);
  limiters.set(pool, limiter);
  return limiter;
}

function newLimiter(connections: number): KeyedLimiter {
  return new KeyedLimiter({
    concurrency: Math.max(minConnections, Math.floor(connections * share)),
    // Who asks for work limits how much of it there is.
    maxWaiting: Infinity,
    waitMs,
    makeError: () =>
      new DomainError('overloaded', 'too many statements of this cluster wait for a connection; try again'),
  });
}
