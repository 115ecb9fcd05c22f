import { objectKey } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import type { Source } from './source.ts';

/** The state that a source is held at, whatever becomes of the environment. */
export type Pin =
  | { readonly kind: 'revision'; readonly revision: number }
  /** `name` is that of a SecretSnapshot in the SecretSync's namespace. */
  | { readonly kind: 'snapshot'; readonly name: string };

/** The pin that a source names; undefined where the Secret follows the environment. */
export function pinOf({ snapshotRef, revision }: Source): Pin | undefined {
  if (snapshotRef !== undefined) return { kind: 'snapshot', name: snapshotRef.name };
  return revision === undefined ? undefined : { kind: 'revision', revision };
}

/**
 * A source's pin as a target's record has it: `revision/7` or `snapshot/good`. By name and not by what the name stands for:
 * only another name is somebody's wish, another SecretSnapshot under the same name may be a mistake.
 */
export function pinText(source: Source): string | undefined {
  const pin = pinOf(source);
  if (pin === undefined) return undefined;
  return pin.kind === 'revision' ? `revision/${pin.revision}` : `snapshot/${pin.name}`;
}

/** Key of the SecretSnapshot that a source of a SecretSync is pinned to, if it is to one. */
export function snapshotKeyOf({ metadata: { namespace = '' } }: SecretSync, source: Source): string | undefined {
  const pin = pinOf(source);
  return pin?.kind === 'snapshot' ? objectKey({ namespace, name: pin.name }) : undefined;
}

/** What a source is pinned to, for people; undefined where it is not. */
export function pinnedTo(source: Source): string | undefined {
  const pin = pinOf(source);
  if (pin === undefined) return undefined;
  return pin.kind === 'revision' ? 'pinned to that revision' : `pinned to the SecretSnapshot ${pin.name}`;
}
