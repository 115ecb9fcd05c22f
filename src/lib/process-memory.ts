import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const mebibyte = 1024 * 1024;

/** How the memory of requests is divided. Each part is a `MemoryBudget`. */
export interface RequestMemory {
  /** Bodies that arrive, and responses that their readers have not read. How long it is held depends on clients. */
  readonly transferBytes: number;
  /** Copies during the reads of large states. How long they are held depends on this process. */
  readonly readBytes: number;
  /** Copies of large bodies until their change is written. */
  readonly writeBytes: number;
}

/** How the memory of a process is divided (docs/internals/limits.md). */
export interface ProcessMemory extends RequestMemory {
  /** What the reconciles of SecretSyncs read at the same time. */
  readonly reconcileBytes: number;
  /** Connections over TLS. Each has buffers outside of the heap, even if it sends nothing. */
  readonly tlsConnections: number;
  /** Those of them that controllers may have on their own port. */
  readonly clusterConnections: number;
}

// The process without requests, and the states that are kept for reads.
const processBytes = 160 * mebibyte;
// More would only let more large requests or reconciles run at once, on one thread.
const maxBytes = 256 * mebibyte;
const minBytes = 16 * mebibyte;
const maxConnections = 4_096;
const minConnections = 64;
// Requests and streams of a controller have about ten, and so has the one that replaces it.
const minClusterConnections = 32;
const clusterShare = 1 / 4;
// Measured: 95 KiB after the handshake, and as much again while a response waits for a client that reads nothing.
const tlsConnectionBytes = 192 * 1024;
// With 512 MiB, this holds four of the largest reconciles of 1 MiB Secrets with one source for each of two namespaces.
const reconcileShare = 1 / 4;
// What a controller watches.
const watchBytes = 32 * mebibyte;

/**
 * Divides the memory of this process. A quarter of what is left for requests stays free: for small ones and for what the
 * garbage collector has not freed yet.
 *
 * @param hasController whether requests share the memory with a controller
 */
export function divideMemory(hasController: boolean, memoryBytes: number = memoryOfProcess()): ProcessMemory {
  const reconcileBytes = within(memoryBytes * reconcileShare);
  const free = memoryBytes - processBytes - (hasController ? reconcileBytes + watchBytes : 0);
  const fitting = Math.floor((free * 0.25) / tlsConnectionBytes);
  const tlsConnections = Math.min(maxConnections, Math.max(minConnections, fitting));
  return {
    reconcileBytes,
    transferBytes: within(free * 0.2),
    readBytes: within(free * 0.18),
    writeBytes: within(free * 0.12),
    tlsConnections,
    clusterConnections: Math.max(minClusterConnections, Math.floor(tlsConnections * clusterShare)),
  };
}

function within(bytes: number): number {
  return Math.floor(Math.min(maxBytes, Math.max(minBytes, bytes)));
}

/**
 * The limit of the container, or of the machine. Node gives half of a small container to the heap, in which the text of
 * bodies and values is. Buffers are outside of the heap. A smaller heap, such as by --max-old-space-size, counts twice.
 */
function memoryOfProcess(): number {
  // Without a limit, this is 0 or more than the machine has.
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(memory, 2 * getHeapStatistics().heap_size_limit);
}
