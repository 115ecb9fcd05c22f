import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { removeControlGroup } from '../../../tools/devcluster/cluster/control-group.ts';

const version1 = '/sys/fs/cgroup/memory';
const version2 = '/sys/fs/cgroup';

/** A program and its arguments. */
export interface Command {
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * What a container with a memory limit has: a control group in which the kernel ends the process that exceeds it, and from
 * which Node.js derives the size of its heap, and the image's setting of the allocator. Where control groups cannot be made,
 * the size of the heap alone.
 */
export class MemoryLimit {
  readonly #folder: string | undefined;
  readonly #bytes: number;

  private constructor(folder: string | undefined, bytes: number) {
    this.#folder = folder;
    this.#bytes = bytes;
  }

  /** Ends with `resources`: after the processes in it. */
  static create(resources: AsyncDisposableStack, name: string, bytes: number): MemoryLimit {
    const folder = makeGroup(name, bytes);
    if (folder !== undefined) resources.defer(() => removeControlGroup(name));
    return new MemoryLimit(folder, bytes);
  }

  /** The command that runs another one, of Node.js, under the limit. */
  command({ program, args }: Command): Command {
    // The half of the limit is what Node.js takes by itself in such a container.
    if (this.#folder === undefined)
      return { program, args: [`--max-old-space-size=${Math.floor(this.#bytes / 2 ** 21)}`, ...args] };
    const enter = `echo $$ > ${join(this.#folder, 'cgroup.procs')} && export ${allocatorSetting()} && exec "$0" "$@"`;
    return { program: '/bin/sh', args: ['-c', enter, program, ...args] };
  }

  /** The most bytes that were in use at once; undefined if it was not counted. */
  peakBytes(): number | undefined {
    const files = ['memory.max_usage_in_bytes', 'memory.peak'].map((file) => join(this.#folder ?? '', file));
    const file = this.#folder === undefined ? undefined : files.find((one) => existsSync(one));
    return file === undefined ? undefined : Number(readFileSync(file, 'utf8'));
  }
}

/** As the image sets it. */
function allocatorSetting(): string {
  const setting = /MALLOC_MMAP_THRESHOLD_=\d+/.exec(readFileSync(join(checkoutDirectory, 'Dockerfile'), 'utf8'))?.[0];
  if (setting === undefined) throw new Error('the Dockerfile sets no MALLOC_MMAP_THRESHOLD_');
  return setting;
}

/** Makes a control group, by whichever version the machine has; undefined where it may not be made. */
function makeGroup(name: string, bytes: number): string | undefined {
  const isVersion1 = existsSync(version1);
  const folder = join(isVersion1 ? version1 : version2, name);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, isVersion1 ? 'memory.limit_in_bytes' : 'memory.max'), `${bytes}`);
    return folder;
  } catch {
    removeControlGroup(name);
    return undefined;
  }
}
