import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { withBuildah } from '../../../tools/devcluster/image/make-image.ts';
import { findBinaries } from '../../../tools/devcluster/postgres/binaries.ts';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { builtImage } from './built-image.ts';

/** The images that the node's pods run, by name. */
export interface NodeImages {
  readonly keyframe: string;
  /** Debian and Node.js, for pods of applications. */
  readonly app: string;
  /** What stands in for docker.io/library/postgres:18. */
  readonly postgres: string;
}

const postgresTag = 'localhost/postgres-stand-in:18';
const postgresFolder = join(checkoutDirectory, 'test', 'images', 'postgres');

/** Builds them, or finds them built, and answers with their names the files that hold them. */
export async function makeNodeImages(): Promise<{ images: NodeImages; files: readonly string[] }> {
  const { tag: keyframe, file } = await builtImage();
  return await withBuildah(async (buildah, folder) => {
    const base = await buildah.base();
    const work = mkdtempSync(join(folder, 'postgres-'));
    try {
      cpSync(postgresFolder, work, { recursive: true });
      cpSync(postgresPrograms(), join(work, 'postgresql'), { recursive: true, verbatimSymlinks: true });
      await buildah.buildFolder(work, { tag: postgresTag, base });
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    const files = [file, await buildah.keep(postgresTag, 'postgres'), await buildah.keep(base, 'base')];
    return { images: { keyframe, app: base, postgres: postgresTag }, files };
  });
}

/** The folder with bin, lib and share. */
function postgresPrograms(): string {
  return dirname(dirname(findBinaries(postgresHome()).postgres));
}
