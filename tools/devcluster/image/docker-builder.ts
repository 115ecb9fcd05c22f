import { type BuildRequest, type ImageBuilder, commonArguments } from './image-builder.ts';
import type { Tools } from './tools.ts';

/** Builds with Docker, on the base that the Dockerfile names. */
export class DockerBuilder implements ImageBuilder {
  readonly name = 'Docker';
  readonly #tools: Tools;

  constructor({ tools }: { readonly tools: Tools }) {
    this.#tools = tools;
  }

  async base(): Promise<undefined> {
    return undefined;
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
