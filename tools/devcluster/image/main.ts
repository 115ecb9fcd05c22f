import { parseArgs } from 'node:util';
import { howToUse } from './how-to-use.ts';
import { ImageError } from './image-error.ts';
import { type ImageOptions, makeImage } from './make-image.ts';

const usage = `Usage: npm run image -- [--output FILE] [--tag NAME] [--install-tools]

Builds the image and writes it to a file that \`docker load\` and \`ctr images import\` read.

  --output FILE    where to; default: <cache>/image/keyframe.tar
  --tag NAME       default: localhost/keyframe:<version>
  --base IMAGE     the base, with its digest; required with Docker, default with buildah: one made here
  --install-tools  where Docker does not answer: installs buildah and debootstrap with apt-get if they are missing

It uses Docker where \`docker info\` answers, else buildah, which needs root.`;

async function main(): Promise<void> {
  const options = readOptions();
  if (options === undefined) return console.log(usage);
  const begun = performance.now();
  const { tag, file, builder, base, baseBytes, ownBytes } = await makeImage(options);
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  console.log(`${tag} built with ${builder} in ${seconds} s
  file  ${file}
  size  ${megabytes(ownBytes)} beside its base of ${megabytes(baseBytes)} (${base})

${howToUse({ tag, file })}`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Undefined if the usage was asked for. */
function readOptions(): ImageOptions | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      output: text,
      tag: text,
      base: text,
      'install-tools': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const { output, tag, base, 'install-tools': installTools = false, help } = values;
  return help === true ? undefined : { output, tag, base, installTools };
}

try {
  await main();
} catch (error) {
  console.error(error instanceof ImageError ? error.message : error);
  process.exitCode = 1;
}
