import { readlinkSync } from 'node:fs';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { containerdSocket } from '../../../tools/devcluster/cluster/node/containerd.ts';
import { runTool } from '../../../tools/devcluster/cluster/run-tool.ts';
import type { ProcessIdentity } from '../../../tools/process-identity.ts';
import { processesOf } from '../cluster/cluster-cache.ts';

/** The images on the node of a run, by their names. */
export class NodeImageNames {
  readonly #runFolder: string;

  constructor({ runFolder }: { readonly runFolder: string }) {
    this.#runFolder = runFolder;
  }

  /** Takes in the images of a file, as `docker save` writes it. */
  async bring(file: string): Promise<void> {
    await this.#ctr(['import', '--local', file]);
  }

  /** Gives an image that is there another name as well. */
  async add(image: string, name: string): Promise<void> {
    await this.#ctr(['tag', image, name]);
  }

  /** Takes a name away; containers that were made by it run on. */
  async remove(name: string): Promise<void> {
    await this.#ctr(['remove', '--sync', name]);
  }

  async #ctr(args: readonly string[]): Promise<void> {
    const { ctr } = await ensureBinaries(['ctr'], { env: process.env, output: process.stderr });
    const { pid } = firstProcessOf(this.#runFolder);
    const within = ['--target', String(pid), '--mount', ctr, '--address', containerdSocket, '--namespace', 'k8s.io'];
    await runTool('nsenter', [...within, 'images', ...args]);
  }
}

/** The one of a run's processes whose namespaces are the node's. Throws where there is none. */
export function firstProcessOf(runFolder: string): ProcessIdentity {
  const ownSpace = readlinkSync('/proc/self/ns/pid');
  const init = processesOf(runFolder).find(({ pid }) => readlinkSync(`/proc/${pid}/ns/pid`) !== ownSpace);
  if (init === undefined) throw new Error(`The run in ${runFolder} has no node.`);
  return init;
}
