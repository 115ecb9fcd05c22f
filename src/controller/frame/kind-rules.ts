import type { ChangeFeed } from '../../services/changes/change-feed.ts';
import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import type { SideClaim } from './conditions.ts';
import type { ControllerEvent, DependencySet, Seen } from './dependencies.ts';
import type { DeferredOutcome, Outcome, ReportedOutcome, StatusFields } from './outcome.ts';
import type { NamedWatch } from './named-watch.ts';
import type { Resource, StatusOf } from './resource.ts';
import type { Next } from './work-queue.ts';

/** One reconcile of one resource. */
export interface ReconcileContext<T extends Resource> {
  /** `namespace/name`; `/name` for a kind of the cluster's. */
  readonly key: string;
  readonly resource: T;
  /** Under which the audit keeps what this reconcile does. */
  readonly requestId: string;
  /** What the result rests on. An event about any of it has the resource reconciled again, also if the reconcile throws. */
  readonly seen: Seen;
  /** Whether `keyframe.dev/reconcile-at` has changed since the last reconcile. */
  readonly isForced: boolean;
}

/** What makes one kind; everything else is the same for all kinds. */
export interface KindRules<T extends Resource, O extends ReportedOutcome = Outcome<T>> {
  readonly kind: ResourceKind;
  /** The kind in the plural, for people. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** What Events say was done: one word, such as Mint. */
  readonly action: string;
  /** The annotations, beside those of every kind, that request a reconcile when they change. */
  readonly requestAnnotations?: readonly string[];
  /** The watches that must have listed everything before the resource is reconciled; default: none. */
  readonly needs?: (resource: T) => readonly NamedWatch[];
  /** Makes things as the resource says. What it throws becomes the outcome of `failed`. */
  readonly reconcile: (context: ReconcileContext<T>) => Promise<O | DeferredOutcome>;
  /** What a reconcile comes to while `spec.suspend` is true. What it throws becomes the outcome of `failed`. */
  readonly suspended: (context: ReconcileContext<T>) => Promise<O>;
  /** What an error comes to. */
  readonly failed: (error: unknown, context: ReconcileContext<T>) => O;
  /** The whole status after an outcome; `known` is the one that the controller reported last. */
  readonly statusAfter: (resource: T, known: StatusOf<T> | undefined, outcome: O, nowMs: number) => StatusOf<T>;
  /** A condition beside Ready whose changes of reason are reported by an Event, too. */
  readonly sideClaim?: (resource: T, outcome: O) => SideClaim | undefined;
  /** For a kind whose resources own what must go with them. */
  readonly cleanup?: Cleanup<T>;
  /** Whether the end of a namespace ends the work for its resources, because all that they own is in it. */
  readonly endsWithNamespace?: boolean;
  /** Whether a resource that an event made stale must wait, so that it is reconciled once a second at most. */
  readonly isThrottled?: (key: string, event: ControllerEvent) => boolean;
  /** Called with every version of a resource, before it is reconciled. */
  readonly onSeen?: (resource: T) => void;
  /** Called when a resource is gone: what is kept of it must be dropped. */
  readonly onGone?: (resource: T) => void;
  /** Called with what a new result rests on. */
  readonly onSettled?: (key: string, dependencies: DependencySet) => void;
  /**
   * Has a resync ask the database, once for all resources, which results are stale. Without it a resync reconciles every
   * resource.
   */
  readonly changes?: Pick<ChangeFeed, 'compare'>;
}

/** What a reconcile of a suspended resource came to, beside the suspension itself. */
export interface SuspendedNote {
  /** Added to the condition's message. */
  readonly message?: string;
  /** When to come back although no event asks for it; default: never. */
  readonly next?: Next;
}

/** What the simple kinds do while `spec.suspend` is true. */
export interface SuspensionRules<T extends Resource> {
  /** The whole message of the condition. */
  readonly message?: string;
  /** What must not wait for the end of a suspension, such as a withdrawn grant. Returns a sentence for the condition. */
  readonly work?: (context: ReconcileContext<T>) => Promise<SuspendedNote>;
  /** What else the status reports. */
  readonly fields?: StatusFields<T>;
}

export interface Cleanup<T extends Resource> {
  /** Whether the resource as it is now must be cleaned up after: it gets the finalizer before it is reconciled, or loses it. */
  readonly isNeeded: (resource: T) => boolean;
  /**
   * Undoes what a deleted resource owns, again and again until it returns without throwing. With
   * `keyframe.dev/force-finalize: "true"` the resource goes even if it throws.
   */
  readonly run: (context: ReconcileContext<T>) => Promise<void>;
}
