import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutDirectory } from '../checkout.ts';
import { ImageError } from '../devcluster/image/image-error.ts';
import { makeRelease } from './make-release.ts';

const usage = `Usage: npm run release -- [--output FOLDER] [--base IMAGE] [--without-image]

Makes what a release publishes: the command, the chart's package, the SBOM, the image's archive, and SHA256SUMS.

  --output FOLDER  where to; default: release/ in the checkout
  --base IMAGE     the image's base, with its digest; required with Docker (docs/image.md)
  --without-image  leaves out the image, whose build takes minutes and needs Docker, or buildah and root`;

const { values } = parseArgs({
  options: {
    output: { type: 'string' },
    base: { type: 'string' },
    'without-image': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
try {
  if (values.help === true) console.log(usage);
  else {
    const folder = resolve(values.output ?? `${checkoutDirectory}/release`);
    const { names } = await makeRelease({ folder, base: values.base, withImage: values['without-image'] !== true });
    console.log(names.map((name) => `${folder}/${name}`).join('\n'));
  }
} catch (error) {
  console.error(error instanceof ImageError ? error.message : error);
  process.exitCode = 1;
}
