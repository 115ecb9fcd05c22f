import { DomainError } from '../../../domain/errors/domain-error.ts';

/** Every sentence that the condition Ready of a SecretSnapshot contains. Its Events repeat these. */

export const suspended =
  'spec.suspend is true: no snapshot is taken or adopted, and none is deleted when it expires. ' +
  'Set spec.suspend to false to resume.';

export interface SnapshotFacts {
  readonly id: string;
  readonly secretCount: number;
  /** `organization/project/environment`. */
  readonly place: string;
  readonly revision: number;
}

export function held({ id, secretCount, place, revision }: SnapshotFacts): string {
  const secrets = secretCount === 1 ? '1 secret' : `${secretCount} secrets`;
  return `Snapshot ${id} holds ${secrets} of ${place} at revision ${revision}.`;
}

export function environmentDeleted(place: string): string {
  return (
    `Environment ${place} was deleted, and this snapshot with it. Nothing can be restored from it. ` +
    'Delete this resource.'
  );
}

export const snapshotGone =
  'The snapshot was deleted in Keyframe, and this resource takes no other one. Delete this resource. ' +
  'To take a snapshot again, create another SecretSnapshot.';

/** The API server accepts no such resource. */
export function noSource(): DomainError {
  return new DomainError('invalid_input', 'spec.source must name an environment or a snapshot');
}
