import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { open, seal } from '../crypto/aead.ts';
import { Plaintext } from '../domain/plaintext.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { SecretList } from './secrets.ts';

export interface StateCacheLimits {
  /** Bytes of all kept states together; the longest unread go first. */
  readonly maxBytes: number;
}

const defaultStateCacheLimits: StateCacheLimits = { maxBytes: 64 * 1024 * 1024 };

/** What keeping a state takes beside its sealed bytes, roughly: so that many small ones count too. */
export const keepingBytes = 512;

// Far below the 2^32 uses that a key with random nonces allows (NIST SP 800-38D, 8.3).
const usesPerKey = 2 ** 30;

interface Kept {
  readonly revisionId: string;
  readonly sealed: Uint8Array;
}

type WireSecret = readonly [key: string, value: string, version: number, updatedAtMs: number];
type WireState = readonly [revision: number, secrets: readonly WireSecret[]];

/**
 * The states of environments as they were last read, so that their values need not be fetched and decrypted one by
 * one for each reader. A state never grows stale: it is asked for by the random id of its revision, and what is at a
 * revision does not change. It is kept sealed, in one piece, under a key that this process made and never gives away,
 * so that values lie about in memory no longer than without it.
 */
export class StateCache {
  readonly #limits: StateCacheLimits;
  /** By environment, the longest unread first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  #key: KeyObject = newKey();
  #uses = 0;

  constructor(limits: StateCacheLimits = defaultStateCacheLimits) {
    this.#limits = limits;
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The environment's secrets at this revision, if they are kept. */
  find(environmentId: string, revisionId: string): SecretList | undefined {
    const kept = this.#kept.get(environmentId);
    if (kept?.revisionId !== revisionId) return undefined;
    this.#kept.delete(environmentId);
    this.#kept.set(environmentId, kept);
    const bytes = open(this.#key, kept.sealed, placeOf(environmentId, revisionId));
    const [revision, secrets] = JSON.parse(bytes.toString('utf8')) as WireState;
    bytes.fill(0);
    return {
      environmentId,
      revision,
      revisionId,
      secrets: secrets.map(([key, value, version, updatedAtMs]) => ({
        key,
        value: new Plaintext(value),
        version,
        updatedAt: new Date(updatedAtMs),
      })),
    };
  }

  /** Keeps all secrets of an environment at a revision, in place of those of another one. */
  keep({ environmentId, revision, revisionId, secrets }: SecretList): void {
    this.drop(environmentId);
    const state: WireState = [
      revision,
      secrets.map(({ key, value, version, updatedAt }) => [key, value.reveal(), version, updatedAt.getTime()]),
    ];
    const bytes = Buffer.from(JSON.stringify(state));
    if (bytes.length + keepingBytes > this.#limits.maxBytes) return;
    this.#count();
    // A copy in memory of its own: a small Buffer is a piece of a larger block, all of which it would keep.
    const sealed = new Uint8Array(seal(this.#key, bytes, placeOf(environmentId, revisionId)));
    bytes.fill(0);
    this.#kept.set(environmentId, { revisionId, sealed });
    this.#bytes += sealed.length + keepingBytes;
    for (const longestUnread of this.#kept.keys()) {
      if (this.#bytes <= this.#limits.maxBytes) break;
      this.drop(longestUnread);
    }
  }

  /** Forgets what is kept of an environment: a value of its past was destroyed, and may be in it. */
  drop(environmentId: string): void {
    const kept = this.#kept.get(environmentId);
    if (kept === undefined) return;
    this.#kept.delete(environmentId);
    this.#bytes -= kept.sealed.length + keepingBytes;
  }

  #count(): void {
    this.#uses += 1;
    if (this.#uses < usesPerKey) return;
    for (const environmentId of this.#kept.keys()) this.drop(environmentId);
    this.#key = newKey();
    this.#uses = 1;
  }
}

/** Has a value that is destroyed not lie in memory either. What is past is never answered, heard of or not. */
export function dropDestroyed(changes: Pick<ChangeFeed, 'subscribe'>, states: Pick<StateCache, 'drop'>): void {
  changes.subscribe({
    onEvent: (event) => {
      if (event.kind === 'environment' && event.destroyed === true) states.drop(event.environmentId);
    },
    onReady: () => undefined,
  });
}

function newKey(): KeyObject {
  return createSecretKey(randomBytes(32));
}

/** What is kept for one place opens for no other. */
function placeOf(environmentId: string, revisionId: string): Buffer {
  return Buffer.from(`${environmentId} ${revisionId}`);
}
