import { randomBytes } from 'node:crypto';
import { databaseFigures } from './database-figures.ts';
import { concurrency } from './fleet.ts';
import type { FleetSite } from './fleet-site.ts';
import { throughput } from './rounds.ts';

const keysPerChange = 1_000;
const changes = 10;
const reads = 5_000;

/** What the database takes for one thing of each kind, in bytes, with all indexes. */
export interface DiskFigures {
  /** A new secret, and a further version of one, with a value of 50 bytes each. */
  readonly secret: number;
  readonly version: number;
  /** An entry of the audit, of a read with a service token. */
  readonly auditEntry: number;
}

/** Writes ten thousand secrets, each of them once more, and reads with a token; what the database grows by, by one. */
export async function measureDisk({ client, place }: FleetSite): Promise<DiskFigures> {
  const environment = await client.makeEnvironment();
  const write = async (): Promise<void> => {
    for (let change = 0; change < changes; change += 1) await environment.change(values(change));
  };
  const few = await client.makeEnvironment();
  await few.change({ VALUE: 'a' });
  const reader = client.as((await few.createToken()).token);
  const grown = async (count: number, work: () => Promise<unknown>): Promise<number> => {
    const before = await databaseFigures(place.database);
    await work();
    return ((await databaseFigures(place.database)).bytes - before.bytes) / count;
  };
  return {
    secret: await grown(changes * keysPerChange, write),
    version: await grown(changes * keysPerChange, write),
    auditEntry: await grown(reads, () => throughput(reads, concurrency, () => reader.call('GET', few.path))),
  };
}

function values(change: number): Record<string, string> {
  const keys = Array.from({ length: keysPerChange }, (_, index) => `KEY_${change}_${index}`);
  return Object.fromEntries(keys.map((key) => [key, randomBytes(25).toString('hex')]));
}
