import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { withBuildah } from '../../../tools/devcluster/image/make-image.ts';
import { unpackFormer } from '../api/program-folder.ts';
import { formerRelease } from '../cluster/released.ts';
import { NodeImageNames } from './node-image-names.ts';
import type { NodeSite } from './node-site.ts';
import type { ChartValues } from './release.ts';

const repository = 'localhost/keyframe-former';
const tag = `${repository}:${formerRelease}`;

/** Brings an image with the program of the former release to the node. Returns the values of the chart that name it. */
export async function bringFormerImage(site: NodeSite, resources: AsyncDisposableStack): Promise<ChartValues> {
  const { program, migrations } = await unpackFormer(resources);
  const file = await withBuildah(async (buildah, folder) => {
    const work = mkdtempSync(join(folder, 'former-'));
    try {
      cpSync(join(checkoutDirectory, 'test', 'images', 'former'), work, { recursive: true });
      layOut(join(work, 'app'), { program, migrations });
      await buildah.buildFolder(work, { tag, base: site.images.keyframe });
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    return await buildah.keep(tag, 'former');
  });
  await new NodeImageNames(site.node).bring(file);
  return { 'image.repository': repository, 'image.tag': formerRelease };
}

/** As in the image of the present program. */
function layOut(app: string, { program, migrations }: { readonly program: string; readonly migrations: string }): void {
  const main = join(app, 'dist', 'server', 'main.js');
  cpSync(program, main);
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^#!.*/, '#!/app/bin/node'));
  chmodSync(main, 0o755);
  cpSync(migrations, join(app, 'prisma', 'migrations'), { recursive: true });
  cpSync(join(dirname(program), '..', '..', 'package.json'), join(app, 'package.json'));
}
