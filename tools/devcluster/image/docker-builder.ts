import { type BuildRequest, type ImageBuilder, commonArguments } from './image-builder.ts';
import { ImageError } from './image-error.ts';
import type { Tools } from './tools.ts';

const example = 'docker.io/library/node:24-bookworm-slim';

/** Builds with Docker, on a base that the caller names. */
export class DockerBuilder implements ImageBuilder {
  readonly name = 'Docker';
  readonly #tools: Tools;

  constructor({ tools }: { readonly tools: Tools }) {
    this.#tools = tools;
  }

  /** Throws ImageError: no base is made here, and no tag of a registry is trusted unseen. */
  async base(): Promise<never> {
    throw new ImageError(
      `Docker builds on a base that you name: its tag can be moved to another image, so give its digest, as in
  npm run image -- --base ${example}@sha256:…
  docker buildx imagetools inspect ${example} prints the digest. docs/image.md has more.`,
    );
  }

  async build(request: BuildRequest): Promise<void> {
    const env = { ...process.env, DOCKER_BUILDKIT: '1', SOURCE_DATE_EPOCH: String(request.time) };
    await this.#tools.run('docker', ['build', ...commonArguments(request)], env);
  }

  async save(tag: string, file: string): Promise<void> {
    await this.#tools.run('docker', ['save', '--output', file, tag]);
  }

  async layerCount(image: string): Promise<number> {
    const format = '{{len .RootFS.Layers}}';
    // BuildKit need not keep the base as an image of its own.
    if ((await this.#tools.ask('docker', ['image', 'inspect', image])) === undefined) {
      await this.#tools.run('docker', ['pull', image]);
    }
    return Number(await this.#tools.run('docker', ['image', 'inspect', '--format', format, image]));
  }
}
