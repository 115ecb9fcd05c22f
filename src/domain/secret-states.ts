/** What the services and the controller say to each other about the states of environments. None of it holds a value. */

/** A key of a state, and how long its value is. */
export interface SizedKey {
  readonly key: string;
  /** Bytes of the value in UTF-8. */
  readonly bytes: number;
}

/** A version of a key, by its number. */
export interface NamedVersion {
  readonly key: string;
  readonly version: number;
}

/** The keys of an environment's state. */
export interface FoundState {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly secrets: readonly SizedKey[];
  /** The keys without a value, which only a past state can have. */
  readonly destroyed: readonly NamedVersion[];
  /** The keys of the state that were deleted after it; empty unless asked for. */
  readonly deletedSince: readonly string[];
}

/** A state has more keys than were allowed: none of them is named. */
export interface LargerState {
  readonly keys: number;
}

/** A state that was found, without its keys. */
export interface StateRef extends Pick<FoundState, 'environmentId' | 'revision' | 'revisionId'> {
  /** How many keys with a value it has. */
  readonly keyCount: number;
}

export function refOf({ environmentId, revision, revisionId, secrets }: FoundState): StateRef {
  return { environmentId, revision, revisionId, keyCount: secrets.length };
}

/**
 * A small state is read with all its values, by one statement instead of two, and is kept for the next reader. What it
 * takes in memory while it is read: `smallStateBytes` at most.
 */
export const smallStateKeys = 1_000;
export const smallStateBytes = 1024 * 1024;
