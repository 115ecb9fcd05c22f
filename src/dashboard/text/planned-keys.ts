import type { RevertView } from '../../wire/changes.ts';
import type { CopyView } from '../../wire/copies.ts';
import type { SecretKeyView } from '../../wire/secrets.ts';

/** A key and what becomes of it. */
export interface PlannedKey {
  readonly key: string;
  readonly change: 'add' | 'set' | 'delete';
  /** What else there is to know about it. */
  readonly note?: string;
}

/** What a plan does, and the keys that it leaves as they are although they could be expected in it. */
export interface KeyPlan {
  /** By key. */
  readonly changes: readonly PlannedKey[];
  readonly left: readonly { readonly key: string; readonly reason: string }[];
}

/** The lists of a plan of a restore. */
export type RestoreLists = Readonly<
  Record<'restored' | 'recreated' | 'pruned' | 'skipped' | 'destroyed', readonly string[]>
>;

export function restoreKeys({ restored, recreated, pruned, skipped, destroyed }: RestoreLists): KeyPlan {
  return {
    changes: byKey([
      ...restored.map((key) => ({ key, change: 'set' as const, note: 'gets its earlier value' })),
      ...recreated.map((key) => ({ key, change: 'add' as const, note: 'was deleted since, and exists again' })),
      ...pruned.map((key) => ({ key, change: 'delete' as const, note: 'was created since; its history stays' })),
    ]),
    left: [
      ...skipped.map((key) => ({ key, reason: 'stays deleted' })),
      ...destroyed.map((key) => ({ key, reason: 'stays as it is: its earlier value was destroyed' })),
    ],
  };
}

export function revertKeys({ restored, recreated, deleted, destroyed, conflicts }: RevertView): KeyPlan {
  const later = new Set(conflicts.map(({ key }) => key));
  const note = (key: string, text: string): string => (later.has(key) ? `${text}; it was changed again later` : text);
  return {
    changes: byKey([
      ...restored.map((key) => ({ key, change: 'set' as const, note: note(key, 'gets its value from before') })),
      ...recreated.map((key) => ({ key, change: 'add' as const, note: note(key, 'exists again, as before') })),
      ...deleted.map((key) => ({ key, change: 'delete' as const, note: note(key, 'did not exist before') })),
    ]),
    left: destroyed.map((key) => ({ key, reason: 'stays as it is: its value from before was destroyed' })),
  };
}

/** A copy from an earlier revision of the environment itself. */
export function stateKeys({ created, updated, deleted, destroyed }: CopyView): KeyPlan {
  return restoreKeys({ restored: updated, recreated: created, pruned: deleted, skipped: [], destroyed });
}

export function copyKeys({ created, updated, deleted, destroyed }: CopyView): KeyPlan {
  return {
    changes: byKey([
      ...created.map((key) => ({ key, change: 'add' as const, note: 'a new key' })),
      ...updated.map((key) => ({ key, change: 'set' as const, note: 'gets the other value' })),
      ...deleted.map((key) => ({
        key,
        change: 'delete' as const,
        note: 'is deleted, because it is not there; its history stays',
      })),
    ]),
    left: destroyed.map((key) => ({ key, reason: 'stays as it is: the value to copy was destroyed' })),
  };
}

/** How the keys of an earlier state became those of now. A version says nothing about whether the value is another one. */
export function keysSince(then: readonly SecretKeyView[], now: readonly SecretKeyView[]): readonly PlannedKey[] {
  const [before, present] = [versionsOf(then), versionsOf(now)];
  const changes: PlannedKey[] = [];
  for (const [key, version] of present) {
    const former = before.get(key);
    if (former === undefined) changes.push({ key, change: 'add', note: `created since, now v${version}` });
    else if (former !== version) changes.push({ key, change: 'set', note: `v${former} then, v${version} now` });
  }
  for (const [key, version] of before) {
    if (!present.has(key)) changes.push({ key, change: 'delete', note: `v${version} then, deleted since` });
  }
  return byKey(changes);
}

function versionsOf(secrets: readonly SecretKeyView[]): ReadonlyMap<string, number> {
  return new Map(secrets.map(({ key, version }) => [key, version]));
}

function byKey(changes: readonly PlannedKey[]): readonly PlannedKey[] {
  return changes.toSorted((a, b) => (a.key < b.key ? -1 : 1));
}
