import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { workingVersion } from '../../checkout.ts';
import { withBuildLock } from '../cluster/build-lock.ts';
import { cacheFolder } from '../cluster/cache-folder.ts';
import { BuildahBuilder } from './buildah-builder.ts';
import { DockerBuilder } from './docker-builder.ts';
import { openImageArchive } from './image-archive.ts';
import type { ImageBuilder } from './image-builder.ts';
import { ImageError } from './image-error.ts';
import { Tools } from './tools.ts';

export interface ImageOptions {
  /** The file to write. */
  readonly output?: string | undefined;
  readonly tag?: string | undefined;
  /** The image to build upon. Required with Docker; buildah makes one. */
  readonly base?: string | undefined;
  /** Whether apt-get may install buildah and debootstrap. */
  readonly installTools?: boolean;
}

/** An image that was built, and lies in a file as `docker save` writes it. */
export interface BuiltImage {
  readonly tag: string;
  readonly file: string;
  readonly builder: string;
  readonly base: string;
  /** How many of its layers, from below, are the base's. */
  readonly baseLayers: number;
  readonly baseBytes: number;
  /** What it holds besides its base, unpacked. */
  readonly ownBytes: number;
}

interface Settings {
  readonly tag: string;
  readonly output: string;
  readonly base: string | undefined;
  /** The folder that outlives checkouts. */
  readonly folder: string;
}

/**
 * Builds the image with Docker where `docker info` answers, else with buildah. Throws ImageError with what is missing, or with
 * the words of the builder.
 */
export async function makeImage(options: ImageOptions): Promise<BuiltImage> {
  const folder = imageFolder();
  const tools = new Tools();
  const builder = await chooseBuilder(tools, folder, options);
  const settings = {
    folder,
    base: options.base,
    tag: options.tag ?? `localhost/keyframe:${workingVersion()}`,
    output: resolve(options.output ?? join(folder, 'keyframe.tar')),
  };
  return await alone(folder, async () => {
    const base = await build(tools, builder, settings);
    const sizes = await measure(builder, settings, base);
    return { tag: settings.tag, file: settings.output, builder: builder.name, base, ...sizes };
  });
}

/**
 * Lets work use buildah as this project's images are built with it, while no other process does: for images that are made for
 * tests. The folder outlives checkouts. Throws ImageError where a tool is missing.
 */
export async function withBuildah<T>(work: (buildah: BuildahBuilder, folder: string) => Promise<T>): Promise<T> {
  const folder = imageFolder();
  const tools = new Tools();
  const buildah = await openBuildah(tools, folder, {
    installTools: true,
    whyNot: 'Images for tests are built with it',
  });
  return await alone(folder, () => work(buildah, folder));
}

function imageFolder(): string {
  const folder = join(cacheFolder(process.env), 'image');
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function alone<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const wait = (pid: number): void => console.log(`Waiting for process ${pid}, which builds an image.`);
  return await withBuildLock(join(folder, 'lock'), wait, work);
}

/** Builds and saves it. Answers its base. */
async function build(tools: Tools, builder: ImageBuilder, { tag, output, base }: Settings): Promise<string> {
  const usedBase = base ?? (await builder.base());
  const time = await sourceTime(tools);
  console.log(`Building ${tag} with ${builder.name}.`);
  const revision = await tools.ask('git', ['describe', '--always', '--dirty', '--abbrev=40', '--exclude', '*']);
  const args = { VERSION: workingVersion(), REVISION: revision ?? '', SOURCE_DATE_EPOCH: String(time), BASE: usedBase };
  await builder.build({ tag, time, args });
  const fresh = `${output}.${process.pid}`;
  try {
    await builder.save(tag, fresh);
    renameSync(fresh, output);
  } finally {
    rmSync(fresh, { force: true });
  }
  return usedBase;
}

/** SOURCE_DATE_EPOCH, else the time of the last commit, else 0. In seconds. Throws ImageError if the variable is no number. */
export async function sourceTime(tools: Tools): Promise<number> {
  const given = process.env['SOURCE_DATE_EPOCH'] ?? (await tools.ask('git', ['log', '-1', '--format=%ct'])) ?? '0';
  if (!/^\d+$/.test(given)) throw new ImageError('SOURCE_DATE_EPOCH must be whole seconds since 1970.');
  return Number(given);
}

async function measure(
  builder: ImageBuilder,
  { output, folder }: Settings,
  base: string,
): Promise<Pick<BuiltImage, 'baseLayers' | 'baseBytes' | 'ownBytes'>> {
  const work = mkdtempSync(join(folder, 'measure-'));
  try {
    const { layers } = openImageArchive(output, work);
    const baseLayers = await builder.layerCount(base);
    const bytes = (some: typeof layers): number => some.reduce((sum, layer) => sum + layer.bytes, 0);
    return {
      baseLayers,
      baseBytes: bytes(layers.slice(0, baseLayers)),
      ownBytes: bytes(layers.slice(baseLayers)),
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function chooseBuilder(
  tools: Tools,
  folder: string,
  { installTools = false }: ImageOptions,
): Promise<ImageBuilder> {
  const whyNot = tools.has('docker') ? 'docker info does not answer' : 'Docker is not installed';
  if (tools.has('docker') && (await tools.ask('docker', ['info'])) !== undefined) return new DockerBuilder({ tools });
  return await openBuildah(tools, folder, { installTools, whyNot });
}

async function openBuildah(
  tools: Tools,
  folder: string,
  { installTools, whyNot }: { readonly installTools: boolean; readonly whyNot: string },
): Promise<BuildahBuilder> {
  if (process.getuid?.() !== 0) throw new ImageError(`${whyNot}, and buildah works here as root alone.`);
  const missing = ['buildah', 'debootstrap'].filter((name) => !tools.has(name));
  if (missing.length > 0) {
    const names = missing.join(' and ');
    if (!installTools) throw new ImageError(`${whyNot}, and ${names} is missing: install it, or give --install-tools.`);
    await installPackages(tools, missing);
  }
  return new BuildahBuilder({ tools, folder });
}

/** Installs Debian packages with apt-get, which may have to fetch its lists first. Throws ImageError where that fails. */
export async function installPackages(tools: Tools, names: readonly string[]): Promise<void> {
  if (!tools.has('apt-get')) throw new ImageError(`Missing: ${names.join(', ')}; there is no apt-get to install it.`);
  console.log(`Installing ${names.join(', ')}.`);
  // Two suites may install at once.
  const install = ['-o', 'DPkg::Lock::Timeout=300', 'install', '--yes', '--no-install-recommends', ...names];
  try {
    await tools.run('apt-get', install);
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    await tools.run('apt-get', ['update']);
    await tools.run('apt-get', install);
  }
}
