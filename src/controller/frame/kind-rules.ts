import type { ChangeEvent } from '../../services/change-feed.ts';
import type { ResourceKind } from '../../kube/custom-resources.ts';
import type { Outcome, StatusFields } from './outcome.ts';
import type { Resource } from './resource.ts';
import type { Next } from './work-queue.ts';

/** One reconcile of one resource. */
export interface Round<T extends Resource> {
  /** `namespace/name`; `/name` for a kind of the cluster's. */
  readonly key: string;
  readonly resource: T;
  /** Under which the audit keeps what this reconcile does. */
  readonly requestId: string;
}

/** What makes one kind; everything else is the same for all that are built on KindController. */
export interface KindRules<T extends Resource> {
  readonly kind: ResourceKind;
  /** The kind in the plural, for people. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** What Events say was done: one word, such as Mint. */
  readonly action: string;
  /** What is not done while `spec.suspend` is true, as a sentence. */
  readonly suspendedMessage?: string;
  /**
   * What must not wait for the end of a suspension, such as a withdrawn grant. Returns a sentence for the condition. What
   * it throws becomes the condition, as with `reconcile`.
   */
  readonly whileSuspended?: (round: Round<T>) => Promise<SuspendedNote>;
  /** What else the status tells then. */
  readonly suspendedFields?: StatusFields<T>;
  /** Sees to it that things are as the resource says. What it throws becomes the condition (see `failureOutcome`). */
  readonly reconcile: (round: Round<T>) => Promise<Outcome<T>>;
  /** For a kind whose resources own what must go with them. */
  readonly cleanup?: Cleanup<T>;
  /** The keys that a commit concerns; none by default. */
  readonly concernedBy?: (event: ChangeEvent) => Iterable<string>;
  /** Told of every version of a resource, before it is reconciled. */
  readonly onSeen?: (resource: T) => void;
  /** Told when a resource is gone: what is kept of it is to be dropped. */
  readonly onGone?: (resource: T) => void;
}

/** What a reconcile of a suspended resource came to. */
export interface SuspendedNote {
  /** Added to the condition's message. */
  readonly message?: string;
  /** When to come back although no event asks for it; default: never. */
  readonly next?: Next;
}

export interface Cleanup<T extends Resource> {
  /** Whether the resource as it is now must be cleaned up after: it gets the finalizer before it is reconciled, or loses it. */
  readonly isNeeded: (resource: T) => boolean;
  /**
   * Undoes what a deleted resource owns, again and again until it returns without throwing. With
   * `keyframe.dev/force-finalize: "true"` the resource goes even if it throws.
   */
  readonly run: (round: Round<T>) => Promise<void>;
}
