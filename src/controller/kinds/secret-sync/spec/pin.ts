import { objectKey } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { Source } from './source.ts';

/** The state that a source is pinned to, regardless of changes of the environment. */
export type Pin =
  | { readonly kind: 'revision'; readonly revision: number }
  /** `name` is that of a SecretSnapshot in the SecretSync's namespace. */
  | { readonly kind: 'snapshot'; readonly name: string };

/** The pin of a source; undefined if the Secret follows the environment. */
export function pinOf({ snapshotRef, revision }: Source): Pin | undefined {
  if (snapshotRef !== undefined) return { kind: 'snapshot', name: snapshotRef.name };
  return revision === undefined ? undefined : { kind: 'revision', revision };
}

/**
 * A source's pin in the form of a target's record: `revision/7` or `snapshot/good`. It contains the name and not the id: a
 * user who wants another state sets another name, but another SecretSnapshot of the same name may be a mistake.
 */
export function pinText(source: Source): string | undefined {
  const pin = pinOf(source);
  if (pin === undefined) return undefined;
  return pin.kind === 'revision' ? `revision/${pin.revision}` : `snapshot/${pin.name}`;
}

/** The key of the SecretSnapshot that a source is pinned to; undefined if it is not pinned to one. */
export function snapshotKeyOf({ metadata: { namespace = '' } }: SecretSync, source: Source): string | undefined {
  const pin = pinOf(source);
  return pin?.kind === 'snapshot' ? objectKey({ namespace, name: pin.name }) : undefined;
}

/** What a source is pinned to, for messages; undefined if it is not pinned. */
export function pinnedTo(source: Source): string | undefined {
  const pin = pinOf(source);
  if (pin === undefined) return undefined;
  return pin.kind === 'revision' ? 'pinned to that revision' : `pinned to the SecretSnapshot ${pin.name}`;
}
