import { existsSync } from 'node:fs';
import { checkoutDirectory } from '../../checkout.ts';

/** A program that builds images from a Dockerfile. */
export interface ImageBuilder {
  readonly name: string;
  /** The base to build upon if the caller names none. Throws ImageError if there is none. */
  base(): Promise<string>;
  build(request: BuildRequest): Promise<void>;
  /** Writes an image to a file, as `docker save` does. */
  save(tag: string, file: string): Promise<void>;
  /** How many layers an image has that is there. */
  layerCount(image: string): Promise<number>;
}

export interface BuildRequest {
  readonly tag: string;
  /** Build arguments of the Dockerfile. */
  readonly args: Readonly<Record<string, string>>;
  /** Seconds since 1970, given to everything that the build makes. */
  readonly time: number;
}

/** The arguments that builders have in common. */
export function commonArguments({ tag, args }: BuildRequest): string[] {
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  const secret =
    certificates !== undefined && existsSync(certificates) ? ['--secret', `id=ca,src=${certificates}`] : [];
  const buildArgs = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]);
  return ['--tag', tag, ...buildArgs, ...secret, checkoutDirectory];
}
