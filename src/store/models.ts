import type pg from 'pg';
import type { PrismaClient } from './generated/client.ts';
import { storeError } from './store-error.ts';

type ModelName =
  | 'environment'
  | 'identity'
  | 'membership'
  | 'organization'
  | 'passkey'
  | 'personalToken'
  | 'project'
  | 'signInState'
  | 'snapshot'
  | 'user';

/** What reads plain records of these tables. Prisma writes nothing, and opens no transaction. */
type Models = { readonly [Name in ModelName]: Pick<PrismaClient[Name], 'findUnique' | 'findFirst' | 'findMany'> };

// A client takes about 100 MiB after its first query (docs/sizing.md): a process that reads nothing with it loads none.
const clients = new WeakMap<pg.Pool, Promise<PrismaClient>>();

/**
 * Reads plain records with Prisma (docs/adr/0034-sql-and-prisma.md), on a connection of the pool. Each relation is read
 * by a statement of its own, so a required one must be of a table whose rows are never deleted. Throws what `queryRows`
 * throws.
 */
export async function readModels<T>(pool: pg.Pool, read: (models: Models) => PromiseLike<T>): Promise<T> {
  const client = clients.get(pool) ?? makeClient(pool);
  clients.set(pool, client);
  try {
    return await read(await client);
  } catch (error) {
    throw storeError(error);
  }
}

async function makeClient(pool: pg.Pool): Promise<PrismaClient> {
  const [{ PrismaClient: Client }, { PrismaPg }] = await Promise.all([
    import('./generated/client.ts'),
    import('@prisma/adapter-pg'),
  ]);
  return new Client({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
}

/** Sorts records by a text of theirs, as `COLLATE "C"` does: by the bytes, whatever the locale makes of hyphens. */
export function byBytes<Record>(records: readonly Record[], textOf: (record: Record) => string): Record[] {
  return records.toSorted((a, b) => Buffer.compare(Buffer.from(textOf(a)), Buffer.from(textOf(b))));
}

/** Part of a list of records, newest first. */
export interface RecordPage {
  /** The record that the page begins after; null begins at the newest. */
  readonly after: { readonly createdAt: Date; readonly id: string } | null;
  /** Null for all. */
  readonly limit: number | null;
}

/** A condition of Prisma: whether a record comes after another one, newest first. */
export function isAfter(after: RecordPage['after']): {
  createdAt?: { lte: Date };
  NOT?: { createdAt: Date; id: { gte: string } };
} {
  if (after === null) return {};
  return { createdAt: { lte: after.createdAt }, NOT: { createdAt: after.createdAt, id: { gte: after.id } } };
}

/** Order and number of records, newest first, for Prisma. */
export function newest(limit: number | null = null): {
  orderBy: [{ createdAt: 'desc' }, { id: 'desc' }];
  take?: number;
} {
  return { orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...(limit !== null && { take: limit }) };
}
