import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBaseImage } from './base-image.ts';
import { type BuildRequest, type ImageBuilder, commonArguments } from './image-builder.ts';
import type { Tools } from './tools.ts';

/** Builds with buildah, as root and without a registry: on a base that is made here. Its images lie in the folder. */
export class BuildahBuilder implements ImageBuilder {
  readonly name = 'buildah';
  readonly #tools: Tools;
  readonly #folder: string;

  constructor({ tools, folder }: { readonly tools: Tools; readonly folder: string }) {
    this.#tools = tools;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  base(): Promise<string> {
    const tools = this.#tools;
    const buildah = (args: readonly string[]): Promise<string> => this.#buildah(args);
    return ensureBaseImage({ tools, buildah, folder: this.#folder });
  }

  async build(request: BuildRequest): Promise<void> {
    const { time } = request;
    const settings = ['--isolation', 'chroot', '--layers', '--pull=never', '--timestamp', String(time)];
    await this.#buildah(['bud', ...settings, ...commonArguments(request)]);
  }

  /** Builds from a folder of its own, with its Dockerfile, on an image that is there. */
  async buildFolder(folder: string, { tag, base }: { readonly tag: string; readonly base: string }): Promise<void> {
    const settings = ['--isolation', 'chroot', '--layers', '--pull=never', '--timestamp', '0'];
    await this.#buildah(['bud', ...settings, '--tag', tag, '--build-arg', `BASE=${base}`, folder]);
  }

  async save(tag: string, file: string): Promise<void> {
    await this.#buildah(['push', '--quiet', tag, `docker-archive:${file}:${tag}`]);
  }

  /**
   * The file that holds an image, in the builder's folder: named by the image's content, and written unless it is there. The
   * one of an earlier image of the name goes.
   */
  async keep(tag: string, name: string): Promise<string> {
    const { FromImageID: id } = JSON.parse(await this.#buildah(['inspect', '--type', 'image', tag])) as {
      FromImageID: string;
    };
    const file = join(this.#folder, `${name}-${id.slice(0, 16)}.tar`);
    if (existsSync(file)) return file;
    for (const old of readdirSync(this.#folder).filter((entry) => entry.startsWith(`${name}-`))) {
      rmSync(join(this.#folder, old));
    }
    await this.save(tag, `${file}.new`);
    renameSync(`${file}.new`, file);
    return file;
  }

  async layerCount(image: string): Promise<number> {
    const { OCIv1 } = JSON.parse(await this.#buildah(['inspect', '--type', 'image', image])) as {
      OCIv1: { rootfs: { diff_ids: readonly string[] } };
    };
    return OCIv1.rootfs.diff_ids.length;
  }

  #buildah(args: readonly string[]): Promise<string> {
    const storage = ['--root', join(this.#folder, 'storage'), '--runroot', join(this.#folder, 'run')];
    return this.#tools.run('buildah', [...storage, '--storage-driver', 'overlay', ...args]);
  }
}
