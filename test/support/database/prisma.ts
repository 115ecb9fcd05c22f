import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../src/store/generated/client.ts';
import type { Database } from '../../../src/store/database.ts';

const clients = new WeakMap<Database['pool'], PrismaClient>();

/** A client of Prisma that reads and writes rows for a test, on the connections of reads. */
export function prismaOf({ pool }: Pick<Database, 'pool'>): PrismaClient {
  const client = clients.get(pool) ?? new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  clients.set(pool, client);
  return client;
}
