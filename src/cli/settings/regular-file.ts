import { type Stats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** A file that is not read because of what it is. The message continues after its path. */
export class UnusableFile extends Error {}

export interface RegularFile {
  readonly text: string;
  readonly status: Stats;
}

interface ReadOptions {
  readonly maxBytes: number;
  /** Follow a symbolic link at the end of the path. */
  readonly followsLinks: boolean;
}

const chunkBytes = 64 * 1024;

/**
 * Reads a file that the user did not name. It may be anything that another user put there: a pipe without a writer, a
 * device, a file without an end. Only a regular file is read, and never more than `maxBytes` of it.
 *
 * @throws UnusableFile, and what node:fs throws
 */
export function readRegularFile(path: string, { maxBytes, followsLinks }: ReadOptions): RegularFile {
  const link = followsLinks ? 0 : constants.O_NOFOLLOW;
  // O_NONBLOCK: opening a pipe would otherwise wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | link);
  try {
    // Of the open file, so that it is the file that is read.
    const status = fstatSync(file);
    if (!status.isFile()) throw new UnusableFile('is not a file');
    return { text: readBounded(file, maxBytes).toString('utf8'), status };
  } finally {
    closeSync(file);
  }
}

/**
 * Reads a file that the user named, which may be a pipe: that gives its text only once. Throws UnusableFile, and what
 * node:fs throws.
 */
export function readNamedFile(path: string, maxBytes: number): RegularFile {
  const file = openSync(path, 'r');
  try {
    return { text: readBounded(file, maxBytes).toString('utf8'), status: fstatSync(file) };
  } finally {
    closeSync(file);
  }
}

/** The size in the status of a file may be 0 or out of date. */
function readBounded(file: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = [];
  for (let total = 0; ;) {
    const chunk = Buffer.alloc(Math.min(chunkBytes, maxBytes + 1 - total));
    const length = readSync(file, chunk);
    if (length === 0) return Buffer.concat(chunks);
    total += length;
    if (total > maxBytes) throw new UnusableFile(`is longer than ${maxBytes} bytes`);
    chunks.push(chunk.subarray(0, length));
  }
}
