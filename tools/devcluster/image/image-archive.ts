import { execFileSync } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** What an image says of how it is run, as in the configuration of OCI images. */
export interface ImageConfig {
  readonly User?: string;
  readonly Env?: readonly string[];
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly WorkingDir?: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly ExposedPorts?: Readonly<Record<string, unknown>>;
}

/** An image in a file, as `docker save` writes it; the file has been extracted to a folder. */
export interface ImageArchive {
  readonly config: ImageConfig;
  /** The layers' tar files, the lowest first. */
  readonly layers: readonly { readonly file: string; readonly bytes: number }[];
}

interface Manifest {
  readonly Config: string;
  readonly Layers: readonly string[];
}

/** Extracts an image's file to a folder, made if absent, and reads what it says. Throws if it is not such a file. */
export function openImageArchive(file: string, folder: string): ImageArchive {
  mkdirSync(folder, { recursive: true });
  tar('-xf', file, '-C', folder);
  const [manifest] = JSON.parse(tar('-xOf', file, 'manifest.json')) as Manifest[];
  if (manifest === undefined) throw new Error(`${file} holds no image`);
  const { config } = JSON.parse(tar('-xOf', file, manifest.Config)) as { config: ImageConfig };
  const layers = manifest.Layers.map((name) => ({
    file: join(folder, name),
    bytes: statSync(join(folder, name)).size,
  }));
  return { config, layers };
}

function tar(...args: string[]): string {
  return execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 2 ** 24 });
}
