import type { SecretTable } from '../../../../wire/formats/secret-table.ts';
import { differenceOf } from '../difference.ts';

export interface DraftStates {
  /** What the draft was made from. */
  readonly before: SecretTable;
  readonly draft: SecretTable;
  /** What the environment holds at present. */
  readonly now: SecretTable;
}

export interface RebasedDraft {
  readonly secrets: SecretTable;
  /** Keys that the draft and others changed in different ways, sorted. The draft's values are kept. */
  readonly conflicts: readonly string[];
}

/** Applies the changes of a draft to a newer state, so that it does not take back the changes of others. */
export function rebaseDraft({ before, draft, now }: DraftStates): RebasedDraft {
  const own = differenceOf(before, draft);
  const others = differenceOf(before, now);
  const secrets = new Map(now);
  for (const key of own.removed) secrets.delete(key);
  for (const [key, value] of draft) if (before.get(key) !== value) secrets.set(key, value);
  const changedByOthers = new Set([...others.added, ...others.changed, ...others.removed]);
  const conflicts = [...own.added, ...own.changed, ...own.removed]
    .filter((key) => changedByOthers.has(key) && now.get(key) !== draft.get(key))
    .sort();
  return { secrets, conflicts };
}
