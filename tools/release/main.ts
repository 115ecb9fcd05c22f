import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { checkoutDirectory } from '../checkout.ts';
import { ImageError } from '../devcluster/image/image-error.ts';
import { makeRelease } from './make-release.ts';
import { ReleaseError } from './release-error.ts';
import { readSigningKey } from './signature.ts';

const usage = `Usage: npm run release -- [--output FOLDER] [--base IMAGE] [--sign KEY] [--without-image]

Makes what a release publishes: the command, the chart's package, the SBOM, the image's archive, the notes, and SHA256SUMS.

  --output FOLDER  where to; default: release/ in the checkout
  --base IMAGE     the image's base, with its digest; required with Docker (docs/image.md)
  --sign KEY       a file with a private Ed25519 key in PEM, which signs SHA256SUMS into SHA256SUMS.sig
  --without-image  leaves out the image, whose build takes minutes and needs Docker, or buildah and root`;

const { values } = parseArgs({
  options: {
    output: { type: 'string' },
    base: { type: 'string' },
    sign: { type: 'string' },
    'without-image': { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  },
});
try {
  if (values.help === true) console.log(usage);
  else {
    const folder = resolve(values.output ?? `${checkoutDirectory}/release`);
    const signingKey = values.sign === undefined ? undefined : readSigningKey(values.sign);
    const withImage = values['without-image'] !== true;
    const { names } = await makeRelease({ folder, base: values.base, withImage, signingKey });
    console.log(names.map((name) => `${folder}/${name}`).join('\n'));
    if (signingKey === undefined) console.error('SHA256SUMS is not signed: --sign names a key.');
  }
} catch (error) {
  console.error(error instanceof ImageError || error instanceof ReleaseError ? error.message : error);
  process.exitCode = 1;
}
