import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** The migrations of this checkout. */
export const ownMigrations = join(checkoutDirectory, 'prisma', 'migrations');

/** The names of a folder's migrations, in the order in which they are applied. */
export async function migrationNames(directory: string = ownMigrations): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return names.sort();
}

/** A copy of our migrations, to which a test may do what it likes. It goes with `resources`. */
export async function copyMigrations(resources: AsyncDisposableStack): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'keyframe-migrations-'));
  resources.defer(() => rm(directory, { recursive: true }));
  await cp(ownMigrations, directory, { recursive: true });
  return directory;
}

/** Adds a migration to such a copy. */
export async function addMigration(directory: string, name: string, sql: string): Promise<void> {
  await mkdir(join(directory, name));
  await writeFile(join(directory, name, 'migration.sql'), sql);
}

/** Removes all other migrations from such a copy. */
export async function keepMigrations(directory: string, names: ReadonlySet<string>): Promise<void> {
  const others = (await migrationNames(directory)).filter((name) => !names.has(name));
  await Promise.all(others.map((name) => rm(join(directory, name), { recursive: true })));
}
