import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { withBuildah } from '../../../tools/devcluster/image/make-image.ts';
import { findBinaries } from '../../../tools/devcluster/postgres/binaries.ts';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { builtRelease } from './built-image.ts';

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

export interface MadeImages {
  readonly images: NodeImages;
  /** The files that hold them. */
  readonly files: readonly string[];
  /** The folder of the release that has Keyframe's image. */
  readonly release: string;
}

/** Builds them, or finds them built: Keyframe's is that of a release. */
export async function makeNodeImages(): Promise<MadeImages> {
  const { folder: release, image } = await builtRelease();
  const { tag: keyframe, file } = image;
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
    return { images: { keyframe, app: base, postgres: postgresTag }, files, release };
  });
}

/** The folder with bin, lib and share. */
function postgresPrograms(): string {
  return dirname(dirname(findBinaries(postgresHome()).postgres));
}
