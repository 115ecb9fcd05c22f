import type { ResourceKind } from '../../kube/client/custom-resources.ts';
import type { ChangesBackend } from '../backend/changes.ts';
import type { SideClaim } from './conditions.ts';
import type { ControllerEvent, DependencySet, Seen } from './dependencies.ts';
import type { DeferredOutcome, Outcome, ReportedOutcome, StatusFields } from './outcome.ts';
import type { NamedWatch } from './named-watch.ts';
import type { Resource, StatusOf } from './resource.ts';
import type { Next } from './work-queue.ts';

/** One reconcile of one resource. */
export interface ReconcileContext<T extends Resource> {
  /** `namespace/name`; `/name` for a cluster-scoped kind. */
  readonly key: string;
  readonly resource: T;
  /** The request id of this reconcile in the audit log. */
  readonly requestId: string;
  /** The dependencies of the result, also if the reconcile throws. An event about any of them causes another reconcile. */
  readonly seen: Seen;
  /** Whether `keyframe.dev/reconcile-at` has changed since the last reconcile. */
  readonly isForced: boolean;
}

/** An outcome as the status reports it. */
export interface OutcomeReport<T extends Resource, O extends ReportedOutcome> {
  /** Its claim is Stalled if it was in progress for too long. */
  readonly outcome: O;
  readonly status: StatusOf<T>;
}

/** The rules of one kind. Everything else is the same for all kinds. */
export interface KindRules<T extends Resource, O extends ReportedOutcome = Outcome<T>> {
  readonly kind: ResourceKind;
  /** The plural of the kind, for messages. */
  readonly plural: string;
  readonly isNamespaced: boolean;
  /** The action of Events: one word, such as Issue. */
  readonly action: string;
  /** Additional annotations that request a reconcile when they change. */
  readonly requestAnnotations?: readonly string[];
  /** The watches that must be synced before the resource is reconciled. Default: none. */
  readonly needs?: (resource: T) => readonly NamedWatch[];
  /** Reconciles the resource. An error becomes the outcome of `failed`. */
  readonly reconcile: (context: ReconcileContext<T>) => Promise<O | DeferredOutcome>;
  /** The outcome while `spec.suspend` is true. An error becomes the outcome of `failed`. */
  readonly suspended: (context: ReconcileContext<T>) => Promise<O>;
  /** The outcome of an error. */
  readonly failed: (error: unknown, context: ReconcileContext<T>) => O;
  /** The whole status after an outcome; `known` is the one that the controller reported last. */
  readonly statusAfter: (resource: T, known: StatusOf<T> | undefined, outcome: O, nowMs: number) => StatusOf<T>;
  /** Whether the first success records no Event. The status reports it. */
  readonly isFirstSuccessQuiet?: boolean;
  /** A condition besides Ready whose changes of reason also cause an Event. */
  readonly sideClaim?: (resource: T, outcome: O) => SideClaim | undefined;
  /** For a kind whose resources need a cleanup when they are deleted. */
  readonly cleanup?: Cleanup<T>;
  /** Whether resources in a namespace that is being deleted are ignored, because everything they own is in it. */
  readonly endsWithNamespace?: boolean;
  /** Whether this event may cause at most one reconcile of the resource a second. */
  readonly isThrottled?: (key: string, event: ControllerEvent) => boolean;
  /** Whether work for a new state of an environment is large and probably fruitless. It is done at most once in 10 seconds. */
  readonly isFruitless?: (key: string) => boolean;
  /** Called with every version of a resource, before it is reconciled. */
  readonly onSeen?: (resource: T) => void;
  /** Called with each outcome, and again whenever the status reports it again. It must not wait. */
  readonly onReport?: (resource: T, report: OutcomeReport<T, O>) => void;
  /** Called when a resource is gone. Its state must be dropped. */
  readonly onGone?: (resource: T) => void;
  /** Called with the dependencies of a new result. */
  readonly onSettled?: (key: string, dependencies: DependencySet) => void;
  /**
   * If it is set, a resync asks the database once which results are stale. Otherwise a resync reconciles every resource.
   */
  readonly changes?: Pick<ChangesBackend, 'compare'>;
}

/** The outcome of a suspended resource, besides the suspension itself. */
export interface SuspendedNote {
  /** Added to the condition's message. */
  readonly message?: string;
  /** When to reconcile again without an event. Default: never. */
  readonly next?: Next;
}

/** The behavior of simple kinds while `spec.suspend` is true. */
export interface SuspensionRules<T extends Resource> {
  /** The whole message of the condition. */
  readonly message?: string;
  /** The work that a suspension does not stop, such as for a withdrawn grant. Returns a sentence for the condition. */
  readonly work?: (context: ReconcileContext<T>) => Promise<SuspendedNote>;
  /** Other fields of the status. */
  readonly fields?: StatusFields<T>;
}

export interface Cleanup<T extends Resource> {
  /** Whether the resource needs a cleanup. It gets or loses the finalizer before it is reconciled. */
  readonly isNeeded: (resource: T) => boolean;
  /**
   * Cleans up after a deleted resource. It is retried until it does not throw. With
   * `keyframe.dev/force-finalize: "true"` the resource is released even if it throws.
   */
  readonly run: (context: ReconcileContext<T>) => Promise<void>;
}
