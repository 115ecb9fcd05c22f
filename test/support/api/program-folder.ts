import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildServer } from '../../../tools/build/server.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { ownMigrations } from '../database/own-migrations.ts';

/** A copy of `keyframe-server` with a release and migrations of its choice. */
export interface ProgramFolder {
  /** What Node runs. */
  readonly program: string;
  /** Its migrations, to which a test may add. */
  readonly migrations: string;
}

/** Copies this checkout's build, as a program that calls itself another release. It goes with `resources`. */
export async function copyProgram(resources: AsyncDisposableStack, release: string): Promise<ProgramFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'keyframe-program-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const [server, migrations] = [join(folder, 'dist', 'server'), join(folder, 'prisma', 'migrations')];
  await mkdir(join(folder, 'dist'));
  await cp(dirname(await buildServer()), server, { recursive: true });
  await cp(ownMigrations, migrations, { recursive: true });
  // The files of the page at /docs are not in the bundle.
  await symlink(join(checkoutDirectory, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', version: release }));
  return { program: join(server, 'main.js'), migrations };
}
