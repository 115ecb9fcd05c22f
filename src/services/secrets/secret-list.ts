import type { ActorType } from '../../domain/principal.ts';
import type { Plaintext } from '../../domain/plaintext.ts';

/** A secret with its current value. */
export interface SecretValue {
  readonly key: string;
  readonly value: Plaintext;
  readonly version: number;
  readonly updatedAt: Date;
}

/** A secret without its value. */
export type SecretKey = Omit<SecretValue, 'value'>;

/** A key that is deleted: its last version, and when and by whom it was deleted. */
export interface DeletedSecretKey extends SecretKey {
  readonly deletedAt: Date;
  readonly deletedBy: string;
  readonly deletedByType: ActorType;
  readonly deletedByName: string;
}

/** Secrets of an environment, and the revision they are of. */
export interface SecretList<Secret = SecretValue> {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly secrets: readonly Secret[];
}
