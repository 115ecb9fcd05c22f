import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { open, seal } from '../../crypto/aead.ts';
import { Plaintext } from '../../domain/plaintext.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { SecretList } from './secret-list.ts';

export interface StateCacheLimits {
  /** Bytes of all kept states together; the least recently read are dropped first. */
  readonly maxBytes: number;
}

const defaultStateCacheLimits: StateCacheLimits = { maxBytes: 64 * 1024 * 1024 };

/** Roughly what a kept state takes besides its sealed bytes, so that many small ones count too. */
export const keepingBytes = 512;

// Far below the 2^32 uses that a key with random nonces allows (NIST SP 800-38D, 8.3).
const usesPerKey = 2 ** 30;

// Of one piece: about a millisecond to seal or to open. A value may be longer, and is then one piece.
const pieceCharacters = 256 * 1024;

interface Kept {
  readonly revisionId: string;
  readonly revision: number;
  readonly key: KeyObject;
  readonly pieces: readonly Uint8Array[];
  /** How many of the cache's bytes it takes. */
  readonly bytes: number;
}

type WireSecret = readonly [key: string, value: string, version: number, updatedAtMs: number];

/**
 * The states of environments as they were last read, so that their values need not be fetched and decrypted one by one
 * for each reader. A state never grows stale: it is asked for by the random id of its revision, and what is at a
 * revision does not change. It is kept sealed, in large pieces, under a key that this process made and never
 * returns, so that values stay in memory no longer than without it. Pieces are sealed and opened in time slices.
 */
export class StateCache {
  readonly #limits: StateCacheLimits;
  /** By environment. Beyond its size it drops the least recently read states. */
  readonly #kept: LRUCache<string, Kept>;
  /** Environments whose state is being sealed. */
  readonly #sealing = new Set<string>();
  #key: KeyObject = newKey();
  #uses = 0;
  #drops = 0;

  constructor(limits: StateCacheLimits = defaultStateCacheLimits) {
    this.#limits = limits;
    this.#kept = new LRUCache({ maxSize: limits.maxBytes });
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#kept.calculatedSize;
  }

  /** How many bytes the environment's secrets at this revision take, if they are kept. */
  bytesOf(environmentId: string, revisionId: string): number | undefined {
    const kept = this.#kept.peek(environmentId);
    return kept?.revisionId === revisionId ? kept.bytes : undefined;
  }

  /** The environment's secrets at this revision, if they are kept. */
  async find(environmentId: string, revisionId: string): Promise<SecretList | undefined> {
    if (this.#kept.peek(environmentId)?.revisionId !== revisionId) return undefined;
    const kept = this.#kept.get(environmentId);
    if (kept === undefined) return undefined;
    const slice = new TimeSlice();
    const secrets: SecretList['secrets'][number][] = [];
    for (const [index, piece] of kept.pieces.entries()) {
      if (slice.isOver) await slice.next();
      const bytes = open(kept.key, piece, placeOf(environmentId, revisionId, index));
      for (const [key, value, version, updatedAtMs] of JSON.parse(bytes.toString('utf8')) as WireSecret[]) {
        secrets.push({ key, value: new Plaintext(value), version, updatedAt: new Date(updatedAtMs) });
      }
      bytes.fill(0);
    }
    return { environmentId, revision: kept.revision, revisionId, secrets };
  }

  /** Keeps all secrets of an environment at a revision, in place of those of another one. */
  async keep(list: SecretList): Promise<void> {
    const { environmentId, revision, revisionId } = list;
    // One reader at a time is enough.
    if (this.#sealing.has(environmentId)) return;
    this.#sealing.add(environmentId);
    try {
      const drops = this.#drops;
      const key = this.#key;
      const pieces = await this.#seal(key, list);
      // A value that was destroyed meanwhile may be in it.
      if (drops !== this.#drops) return;
      this.#kept.delete(environmentId);
      if (pieces === undefined) return;
      const bytes = sizeOf(pieces);
      this.#kept.set(environmentId, { revisionId, revision, key, pieces, bytes }, { size: bytes });
    } finally {
      this.#sealing.delete(environmentId);
    }
  }

  /** Removes what is kept of an environment: a value of its past was destroyed, and may be in it. */
  drop(environmentId: string): void {
    this.#drops += 1;
    this.#kept.delete(environmentId);
  }

  /** The sealed pieces of a state; undefined if they are more bytes than the cache may hold. */
  async #seal(key: KeyObject, { environmentId, revisionId, secrets }: SecretList): Promise<Uint8Array[] | undefined> {
    const slice = new TimeSlice();
    const sealed: Uint8Array[] = [];
    let bytes = keepingBytes;
    for (const piece of piecesOf(secrets)) {
      if (slice.isOver) await slice.next();
      const plain = Buffer.from(JSON.stringify(piece));
      this.#count();
      // A copy: a small Buffer is part of a larger block, all of which it would keep in memory.
      sealed.push(new Uint8Array(seal(key, plain, placeOf(environmentId, revisionId, sealed.length))));
      plain.fill(0);
      bytes += sealed.at(-1)?.length ?? 0;
      if (bytes > this.#limits.maxBytes) return undefined;
    }
    return sealed;
  }

  #count(): void {
    this.#uses += 1;
    if (this.#uses < usesPerKey) return;
    this.#key = newKey();
    this.#uses = 1;
  }
}

/** Consecutive secrets with about `pieceCharacters` together; a state without secrets has no piece. */
function* piecesOf(secrets: SecretList['secrets']): Generator<WireSecret[]> {
  let piece: WireSecret[] = [];
  let characters = 0;
  for (const { key, value, version, updatedAt } of secrets) {
    const text = value.reveal();
    piece.push([key, text, version, updatedAt.getTime()]);
    characters += key.length + text.length;
    if (characters < pieceCharacters) continue;
    yield piece;
    piece = [];
    characters = 0;
  }
  if (piece.length > 0) yield piece;
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((sum, { length }) => sum + length, keepingBytes);
}

function newKey(): KeyObject {
  return createSecretKey(randomBytes(32));
}

/** Binds a piece to its place: it cannot be opened for another. */
function placeOf(environmentId: string, revisionId: string, piece: number): Buffer {
  return Buffer.from(`${environmentId} ${revisionId} ${piece}`);
}
