import { createHash } from 'node:crypto';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';

const prisma = join(checkoutDirectory, 'prisma');

/** Enters the migrations that no release before has in releases.json, with the SHA-256 of each. */
export async function recordMigrations(release: string): Promise<void> {
  const file = join(prisma, 'releases.json');
  const { [release]: _, ...releases } = JSON.parse(await readFile(file, 'utf8')) as Record<
    string,
    Record<string, string>
  >;
  const known = new Set(Object.values(releases).flatMap((names) => Object.keys(names)));
  const entries = await readdir(join(prisma, 'migrations'), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory() && !known.has(entry.name)).map(({ name }) => name);
  const digest = async (name: string): Promise<readonly [string, string]> => {
    const sql = await readFile(join(prisma, 'migrations', name, 'migration.sql'), 'utf8');
    return [name, createHash('sha256').update(sql).digest('hex')];
  };
  const own = Object.fromEntries(await Promise.all(names.toSorted().map(digest)));
  await writeFile(file, `${JSON.stringify({ ...releases, [release]: own }, undefined, 2)}\n`);
}
