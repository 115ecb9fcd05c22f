import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const mebibyte = 1024 * 1024;

/** How the memory of requests is divided (docs/internals/http.md). */
export interface RequestMemory {
  /** Bodies that arrive, and responses that their readers have not read. How long it is held depends on clients. */
  readonly transferBytes: number;
  /** Copies during the reads of large states. How long they are held depends on this process. */
  readonly readBytes: number;
  /** Copies of large bodies until their change is written. */
  readonly writeBytes: number;
}

/** The same with the number of connections over TLS. Each has buffers outside of the heap, even if it sends nothing. */
export interface ProcessMemory extends RequestMemory {
  readonly tlsConnections: number;
}

// The process without requests, and the states that are kept for reads.
const processBytes = 160 * mebibyte;
// More would only let more large requests run at once, on one thread.
const maxBytes = 256 * mebibyte;
const minBytes = 16 * mebibyte;
const maxConnections = 4_096;
const minConnections = 64;
// Measured: 95 KiB after the handshake, and as much again while a response waits for a client that reads nothing.
const tlsConnectionBytes = 192 * 1024;

/**
 * Divides the memory of this process. A quarter of it stays free: for small requests and for what the garbage collector has
 * not freed yet.
 *
 * @param otherBytes what other parts of the process take, such as the controller
 */
export function requestMemory(otherBytes = 0, memoryBytes: number = memoryOfProcess()): ProcessMemory {
  const free = memoryBytes - processBytes - otherBytes;
  const part = (share: number): number => Math.floor(Math.min(maxBytes, Math.max(minBytes, free * share)));
  const fitting = Math.floor((free * 0.25) / tlsConnectionBytes);
  const tlsConnections = Math.min(maxConnections, Math.max(minConnections, fitting));
  return { transferBytes: part(0.2), readBytes: part(0.18), writeBytes: part(0.12), tlsConnections };
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
