import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openImageArchive, type ImageConfig } from '../../../tools/devcluster/image/image-archive.ts';
import type { BuiltImage } from '../../../tools/devcluster/image/make-image.ts';
import { builtImage, removeBuiltImage } from './built-image.ts';
import { CapturedProcess } from '../faults/captured-process.ts';

const siteVariable = 'KEYFRAME_TEST_IMAGE_SITE';

/** The image, built and unpacked to a folder of its own. */
export interface ImageSite {
  readonly image: BuiltImage;
  readonly config: ImageConfig;
  /** The image's root. */
  readonly root: string;
  /** Everything that it adds to its base, as `tar -tv` lists it. */
  readonly listing: readonly string[];
}

/** Builds the image and unpacks it, as root; `imageSite` finds it in this process and in those that it starts. */
export async function makeImageSite(): Promise<void> {
  if (process.getuid?.() !== 0) throw new Error('The tests of the image unpack and mount it: run them as root.');
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-image-'));
  process.env[siteVariable] = folder;
  const image = await builtImage();
  const { config, layers } = openImageArchive(image.file, join(folder, 'archive'));
  const root = join(folder, 'root');
  mkdirSync(root);
  for (const { file } of layers) execFileSync('tar', ['-xpf', file, '-C', root, '--numeric-owner']);
  const own = layers.slice(image.baseLayers);
  const listing = own.flatMap(({ file }) => tarList(file));
  rmSync(join(folder, 'archive'), { recursive: true });
  const site: ImageSite = { image, config, root, listing };
  writeFileSync(join(folder, 'site.json'), JSON.stringify(site));
}

/** Removes what it unpacked. The built image stays in the cache. */
export function removeImageSite(): void {
  const folder = process.env[siteVariable];
  if (folder !== undefined) rmSync(folder, { recursive: true });
  delete process.env[siteVariable];
  removeBuiltImage();
}

function tarList(file: string): string[] {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return execFileSync('tar', ['-tvf', file, '--numeric-owner'], options).trim().split('\n');
}

/** The site of this run. */
export function imageSite(): ImageSite {
  const folder = process.env[siteVariable];
  if (folder === undefined) throw new Error('No image was made for this run: run it as jest project "image".');
  return JSON.parse(readFileSync(join(folder, 'site.json'), 'utf8')) as ImageSite;
}

// What a container runtime does, and more: the root can only be read, there is no shell and no other command of the base,
// and the process has the image's user, no capability and no way to get one. Arguments: root, user, volume, the program's own.
const containerScript = `set -e
root=$1 user=$2 volume=$3; shift 3
mount --bind "$root" "$root"
mount --bind -o ro /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$volume" "$root/mnt"
mount -t tmpfs -o ro none "$root/usr/bin"
mount -t tmpfs -o ro none "$root/usr/sbin"
mount -o remount,bind,ro "$root"
exec setpriv --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid chroot --userspec="$user" "$root" "$@"`;

export interface ContainerOptions {
  /** The program with its arguments, in place of the image's entrypoint. */
  readonly command?: readonly string[];
  /** Arguments for the image's entrypoint. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A folder to mount at /mnt, where the process may write if the folder lets it. */
  readonly volume: string;
}

/** Runs the image as a container without a shell, on the machine's own network. The process is the program itself. */
export function runImage({ command, args = [], env = {}, volume }: ContainerOptions): CapturedProcess {
  const { config, root } = imageSite();
  const inside = command ?? [...(config.Entrypoint ?? []), ...args];
  const own = Object.fromEntries((config.Env ?? []).map((line) => splitOnce(line)));
  return new CapturedProcess({
    name: inside.join(' '),
    program: '/usr/bin/unshare',
    args: ['--mount', '/bin/sh', '-c', containerScript, 'container', root, config.User ?? '0', volume, ...inside],
    env: { ...own, ...env },
  });
}

function splitOnce(line: string): [string, string] {
  const at = line.indexOf('=');
  return [line.slice(0, at), line.slice(at + 1)];
}
