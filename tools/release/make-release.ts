import { createHash, type KeyObject } from 'node:crypto';
import {
  copyFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildCli } from '../build/cli.ts';
import { checkoutDirectory, workingVersion } from '../checkout.ts';
import { ensureBinaries } from '../devcluster/cluster/build.ts';
import { type BuiltImage, makeImage, sourceTime } from '../devcluster/image/make-image.ts';
import { Tools } from '../devcluster/image/tools.ts';
import { releaseNotes } from './notes.ts';
import { productionSbom } from './sbom.ts';
import { signatureOf } from './signature.ts';

export interface ReleaseOptions {
  /** Made if absent. What an earlier release left there is removed. */
  readonly folder: string;
  /** Without it, everything but the image is made: that takes seconds instead of minutes. */
  readonly withImage: boolean;
  /** The image to build upon, as for `makeImage`. */
  readonly base?: string | undefined;
  /** Whether apt-get may install what builds the image. */
  readonly installTools?: boolean;
  /** Signs the checksums; they are not signed without it. */
  readonly signingKey?: KeyObject | undefined;
}

export interface MadeRelease {
  /** The names of the files in the folder. */
  readonly names: readonly string[];
  readonly image: BuiltImage | undefined;
}

/** The file with the checksums of all others, as `sha256sum --check` reads it. */
const checksumFile = 'SHA256SUMS';
const signatureFile = 'SHA256SUMS.sig';

/**
 * Makes what a release publishes: the command, the chart's package, the SBOM, the image's archive, the release notes, their
 * checksums, and the signature of these. The same commit gives the same bytes, but for the image's base. Throws ImageError with
 * the words of a tool that fails, and ReleaseError if the changelog does not name the version.
 */
export async function makeRelease({
  folder,
  withImage,
  base,
  installTools = false,
  signingKey,
}: ReleaseOptions): Promise<MadeRelease> {
  const tools = new Tools();
  const version = workingVersion();
  const notes = releaseNotes(readFileSync(join(checkoutDirectory, 'CHANGELOG.md'), 'utf8'), {
    version,
    imagePlatform: withImage ? `linux/${process.arch === 'x64' ? 'amd64' : process.arch}` : undefined,
    commandNode: '20.16 or newer',
    isSigned: signingKey !== undefined,
  });
  const time = await sourceTime(tools);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) if (isOurs(name)) rmSync(join(folder, name));
  const place = (name: string): string => join(folder, name);

  copyFileSync(await buildCli(), place('keyframe'));
  chmodSync(place('keyframe'), 0o755);
  await packageChart(tools, { file: place(`keyframe-${version}.tgz`), time });
  writeFileSync(place(`keyframe-${version}.cdx.json`), await productionSbom(tools, time));
  const output = place(`keyframe-${version}-image.tar`);
  const image = withImage ? await makeImage({ output, base, installTools }) : undefined;

  writeFileSync(place(`keyframe-${version}-notes.md`), notes);

  const names = readdirSync(folder).filter(isOurs).toSorted();
  const sums = names.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(place(name)))
        .digest('hex')}  ${name}\n`,
  );
  const checksums = Buffer.from(sums.join(''));
  writeFileSync(place(checksumFile), checksums);
  if (signingKey === undefined) return { names: [...names, checksumFile], image };
  writeFileSync(place(signatureFile), signatureOf(checksums, signingKey));
  return { names: [...names, checksumFile, signatureFile], image };
}

function isOurs(name: string): boolean {
  return name === checksumFile || name === signatureFile || /^keyframe(?:-\d.*)?$/.test(name);
}

/** Helm gives each file the time at which it packs it: what it packs is packed again with the source's time. */
async function packageChart(tools: Tools, { file, time }: { file: string; time: number }): Promise<void> {
  const { helm } = await ensureBinaries(['helm'], { env: process.env, output: process.stderr });
  const work = mkdtempSync(join(tmpdir(), 'keyframe-chart-'));
  try {
    const chart = join(checkoutDirectory, 'charts', 'keyframe');
    await tools.run(helm, ['package', chart, '--destination', work], { ...process.env, HOME: work });
    const [packed = ''] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
    await tools.run('tar', ['-xzf', join(work, packed), '-C', work]);
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u=rwX,go=rX'];
    const stable = ['--format=ustar', '--sort=name', `--mtime=@${time}`, ...owner];
    await tools.run('tar', [...stable, '--use-compress-program=gzip -n9', '-cf', file, '-C', work, 'keyframe']);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
