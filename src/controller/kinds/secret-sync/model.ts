import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { KubeObject, OwnerReference } from '../../../kube/client/objects.ts';
import type { Precondition } from '../../../kube/client/secrets.ts';
import type { recordAnnotations } from '../../annotations.ts';
import type { SecretSync, SecretSyncStatus } from '../../generated/secret-sync.ts';
import type { SecretClaim, SecretOwner } from '../secret-claims/claim.ts';
import type { HeldContent } from '../secret-claims/drift.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { ReportedOutcome } from '../../frame/outcome.ts';
import type { Expectations } from '../../frame/expectations.ts';

/** The facts that the parts of a SecretSync's reconcile exchange. None of them holds a value. */

/** What Kubernetes allows the values of one Secret to have together. */
export const maxSecretBytes = 1024 * 1024;

/** Keys of all sources together that a plan looks at, hidden ones included. Two of the largest environments have as many. */
export const maxPlannedKeys = 20_000;

/** What Kubernetes allows the names and values of all annotations of a resource to have together (TotalAnnotationSizeLimitB). */
export const maxAnnotationBytes = 256 * 1024;

/** The field manager of each merge begins with it. */
export const mergeManagerPrefix = 'keyframe-merge-';

/** A source that a target has data of. */
export interface TargetSource {
  /** Undefined for the one source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
  /** The slugs, as `organization/project/name`. */
  readonly path: string;
  readonly environmentId: string;
  /** See `pinText`; undefined if the Secret follows the environment. */
  readonly pin: string | undefined;
}

/** Where a target's data comes from, in the annotations that record it. It outlives every restart of the controller. */
export type TargetRecord = Readonly<Partial<Record<(typeof recordAnnotations)[number], string>>>;

/** Why nothing may be merged into a Secret. */
export type MergeObstacle =
  | { readonly kind: 'absent' | 'deleting' | 'immutable' | 'service-account-token' | 'token-secret' }
  /** It belongs to a SecretSync. */
  | { readonly kind: 'owned'; readonly owner: string }
  /** `others` are the SecretSyncs that held keys of it before, and have not merged them yet. */
  | { readonly kind: 'unmerged'; readonly others: readonly string[] }
  /** `allowed` are the SecretSyncs that may merge into it, as far as they are names. */
  | { readonly kind: 'no-consent'; readonly allowed: readonly string[] };

/** What was observed of the Secret that a SecretSync writes. */
export type TargetFacts =
  | { readonly state: 'absent' }
  /**
   * It belongs to something else that does not write it now. `owner` is what its annotation names. `controller` is the owner
   * that controls it, if it is offered to the SecretSync nevertheless.
   */
  | {
      readonly state: 'unmanaged';
      readonly owner: SecretOwner | undefined;
      readonly controller?: OwnerReference | undefined;
    }
  /** Another resource writes it, or creates it if it is missing. */
  | { readonly state: 'claimed'; readonly holder: SecretClaim; readonly isPresent: boolean }
  /** It belongs to something else, and the SecretSync may not merge into it. */
  | { readonly state: 'mergeForbidden'; readonly obstacle: MergeObstacle }
  | OwnedTargetFacts;

export interface OwnedTargetFacts extends Precondition {
  /**
   * `adopted`: it is unmanaged, and its owner consents that the SecretSync takes it over. `shared`: it is unmanaged, and its
   * owner consents that keys are merged into it; then all facts about its data are about these keys alone.
   */
  readonly state: 'owned' | 'adopted' | 'shared';
  readonly type: string;
  readonly isImmutable: boolean;
  /** It was deleted, and finalizers still hold it. */
  readonly isDeleting: boolean;
  /** Whether it has all metadata that it must have, except for the record. */
  readonly metadataFits: boolean;
  /** Where its data comes from, as it says. */
  readonly record: TargetRecord;
  /** Names of the keys that it holds. */
  readonly keys: readonly string[];
  /** Keyed digest of the data that it holds. */
  readonly fingerprint: Buffer;
}

/** A target whose content is known without reading it, as long as it has this version. */
export interface VerifiedTarget extends HeldContent {
  readonly uid: string;
  readonly resourceVersion: string;
}

/** What a target still holds unless another client has written it. */
export interface ExpectedTarget extends HeldContent {
  readonly uid: string;
  /** The generation of the spec that its metadata was written for. */
  readonly generation: number | undefined;
}

/** What is remembered of a target between reconciles. */
export interface TargetMemory {
  readonly target: Expectations<KubeObject>;
  verified: VerifiedTarget | undefined;
  /** Undefined if the target is not that of the SecretSync now, or if another controller may have written it. */
  expected: ExpectedTarget | undefined;
}

/** The state at which a source was read. */
export interface SourceState {
  /** Undefined for the one source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
}

/** What was read of one source, without the values. */
export interface SourceFacts extends TargetSource {
  readonly revision: number;
  readonly revisionId: string;
  /** All keys of the environment. */
  readonly keys: readonly string[];
}

/** What a Secret was rolled back from, and to, as its record and the status have it. */
export type RolledBack = NonNullable<SecretSyncStatus['rolledBack']>;
export type SourceRevision = RolledBack['sources'][number];

/** What the Secret must hold, without the values. */
export interface WantedFacts {
  /** In the order of the spec. */
  readonly sources: readonly SourceFacts[];
  /** Names of its keys. */
  readonly names: readonly string[];
  /** The name of the source that each key comes from. Composed keys come from none. */
  readonly origins: ReadonlyMap<string, string | undefined>;
  /** Bytes of the values; a lower bound if they are too many to be read. */
  readonly bytes: number;
  readonly isBytesExact: boolean;
  /** What the Secret's type requires and these values lack, without values; undefined if they meet it. */
  readonly unmetNeed: string | undefined;
  /** The record that the Secret must have. */
  readonly record: TargetRecord;
  /** Empty if the values are too many to be read. */
  readonly fingerprint: Buffer;
  /** Why this is former data instead of what the spec asks for; and the sources as the spec asks for them. */
  readonly rolledBack?: RolledBack | undefined;
  readonly asked?: readonly SourceFacts[] | undefined;
}

/** The facts for a decision about a target. */
export interface Facts {
  readonly sync: SecretSync;
  readonly target: TargetFacts;
  /** Undefined if nothing was read because the SecretSync must not write the target. */
  readonly wanted: WantedFacts | DomainError | undefined;
}

/** What to do about a target. */
export type Decision =
  /** The Secret is correct. */
  | { readonly action: 'keep' }
  | { readonly action: 'create' }
  | { readonly action: 'replace'; readonly precondition: Precondition }
  /** Delete and create it: Kubernetes does not allow the change. */
  | { readonly action: 'recreate'; readonly precondition: Precondition }
  /** Apply the keys to an unmanaged Secret. */
  | { readonly action: 'apply'; readonly precondition: Precondition }
  /** Leave the Secret as it is and report why. */
  | { readonly action: 'skip'; readonly error: DomainError };

/** Keys that must not vanish without consent. */
export interface BlockedDeletion {
  /** Sorted. */
  readonly keys: readonly string[];
  /** How many keys the Secret has. */
  readonly of: number;
  /** What the consent must name. */
  readonly digest: string;
}

/** The target as it was written or found correct. */
export interface SyncedTarget {
  /** The states that it holds. */
  readonly sources: readonly SourceState[];
  readonly secretCount: number;
  readonly target: NonNullable<SecretSyncStatus['target']>;
}

/** The result of one reconcile, as far as the status reports it. */
export interface SyncOutcome extends ReportedOutcome {
  /** The sources as they were read; undefined if they were not. */
  readonly sources: readonly SourceState[] | undefined;
  /** Undefined if the target was neither written nor found correct. */
  readonly synced: SyncedTarget | undefined;
  /** What the Secret was rolled back from, if it was. */
  readonly rolledBack?: RolledBack | undefined;
  /** Whether the target belongs to another resource now, so that the status must not report it. */
  readonly isTargetLost?: boolean;
}

/** How much memory a reconcile may use. */
export interface Allowance {
  /** Of each state that it reads. */
  readonly maxKeys: number;
  /** Of all values together. */
  readonly maxValueBytes: number;
}

/**
 * What is remembered of one SecretSync between reconciles, in addition to its dependencies. All of it can be lost: the next
 * reconcile then observes everything again. It never holds a value.
 */
export interface SyncMemory extends TargetMemory {
  /** How much memory the next reconcile needs, with headroom. */
  needed: Allowance | undefined;
  /** How often in a row it was deferred because memory was missing. */
  deferrals: number;
  /** Whether the sources had more than a Secret can hold. Most changes of them will not help. */
  isTooLarge: boolean;
  /** The rollback that is in effect instead of what the spec asks for. */
  rolledBack: RolledBack | undefined;
  /** Since when the error with a token is about to end or to be explained; milliseconds since the epoch. */
  unsettledSince: number | undefined;
  /** Whether the target is watched by its name, because the watch of all targets does not show it. */
  isTargetFollowed: boolean;
}

/** One reconcile of one SecretSync. */
export interface SyncContext extends ReconcileContext<SecretSync> {
  readonly memory: SyncMemory;
}
