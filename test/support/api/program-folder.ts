import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { buildServer } from '../../../tools/build/server.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { formerProgram, formerRelease } from '../cluster/released.ts';
import { keepMigrations, ownMigrations } from '../database/own-migrations.ts';

/** A `keyframe-server` with a release and migrations of its own. */
export interface ProgramFolder {
  /** What Node runs. */
  readonly program: string;
  /** Its migrations, to which a test may add. */
  readonly migrations: string;
}

/** Copies this checkout's build, as a program that calls itself another release. It goes with `resources`. */
export async function copyProgram(resources: AsyncDisposableStack, release: string): Promise<ProgramFolder> {
  const built = dirname(await buildServer());
  return await layOut(resources, release, (server) => cp(built, server, { recursive: true }));
}

/** The program of the former release, with the migrations that it published. It goes with `resources`. */
export async function unpackFormer(resources: AsyncDisposableStack): Promise<ProgramFolder> {
  const packed = await readFile(formerProgram);
  const folder = await layOut(resources, formerRelease, async (server) => {
    await mkdir(server);
    await writeFile(join(server, 'main.js'), brotliDecompressSync(packed));
  });
  const releases = JSON.parse(await readFile(join(checkoutDirectory, 'prisma', 'releases.json'), 'utf8')) as Readonly<
    Record<string, Readonly<Record<string, string>>>
  >;
  const published = new Set(Object.values(releases).flatMap((names) => Object.keys(names)));
  await keepMigrations(folder.migrations, published);
  return folder;
}

async function layOut(
  resources: AsyncDisposableStack,
  release: string,
  put: (server: string) => Promise<void>,
): Promise<ProgramFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-program-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const [server, migrations] = [join(folder, 'dist', 'server'), join(folder, 'prisma', 'migrations')];
  await mkdir(join(folder, 'dist'));
  await put(server);
  await cp(ownMigrations, migrations, { recursive: true });
  // The files of the page at /docs/api are not in the bundle.
  await symlink(join(checkoutDirectory, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: release }));
  return { program: join(server, 'main.js'), migrations };
}
