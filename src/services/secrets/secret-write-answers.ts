import type { SecretChange } from '../../store/secrets.ts';
import type { WrittenSecrets } from './secret-writer.ts';

/** The response of a PUT. */
export interface PutAnswer {
  readonly key: string;
  readonly version: number;
  readonly updatedAt: Date;
  /** Whether the key did not exist before. */
  readonly created: boolean;
  readonly revision: number;
  readonly revisionId: string;
}

/** The response of a PATCH. */
export interface PatchAnswer {
  /** The environment's revision after the change, or the one it stays at if there was nothing to change. */
  readonly revision: number;
  readonly revisionId: string;
  readonly set: readonly { readonly key: string; readonly version: number }[];
  readonly deleted: readonly string[];
  /** Keys left alone because of `skipUnchanged`. */
  readonly unchanged: readonly string[];
}

/** The response to a write of one key. */
export function putAnswer({ changes, at, revision, revisionId }: WrittenSecrets): PutAnswer {
  const [change] = changes;
  if (change?.kind !== 'version' || at === null) throw new Error('a set key makes a version');
  const { key, version, changeType } = change;
  return { key, version, updatedAt: at, created: changeType === 'created', revision, revisionId };
}

/** The response to a write of several. */
export function patchAnswer({ changes, unchanged, revision, revisionId }: WrittenSecrets): PatchAnswer {
  const isDeletion = (change: SecretChange): boolean => change.kind === 'deletion';
  return {
    revision,
    revisionId,
    set: changes.flatMap((change) => (change.kind === 'version' ? [{ key: change.key, version: change.version }] : [])),
    deleted: changes.filter(isDeletion).map(({ key }) => key),
    unchanged,
  };
}
