import type { ActorType } from '../../domain/principal.ts';
import type { Plaintext } from '../../domain/plaintext.ts';

/** A secret with its current value. */
export interface SecretValue {
  readonly key: string;
  readonly value: Plaintext;
  readonly version: number;
  readonly updatedAt: Date;
}

/** A secret without its value, and who made its version. */
export interface SecretKey extends Omit<SecretValue, 'value'> {
  readonly updatedBy: string;
  readonly updatedByType: ActorType;
  /** The actor's name as of then. */
  readonly updatedByName: string;
  /** The cluster that vouched for the actor, if the caller may know it; null if none did. */
  readonly updatedByCluster: string | null;
}

/** A key that is deleted: its last version, and when and by whom it was deleted. */
export interface DeletedSecretKey extends Omit<SecretValue, 'value'> {
  readonly deletedAt: Date;
  readonly deletedBy: string;
  readonly deletedByType: ActorType;
  readonly deletedByName: string;
  readonly deletedByCluster: string | null;
}

/** Secrets of an environment, and the revision they are of. */
export interface SecretList<Secret = SecretValue> {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly secrets: readonly Secret[];
}
