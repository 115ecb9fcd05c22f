import { useSyncExternalStore } from 'react';
import { type Commit, keepSaving, type CommitOutcome } from '../text/commit.ts';
import { type Draft, emptyDraft } from '../text/draft.ts';
import { type Place, pathOf } from '../text/place.ts';

/** What a user wants to change in an environment, and what became of it. */
export interface Held {
  readonly draft: Draft;
  /** The commit of the draft that is under way, or whose response was lost. */
  readonly commit: Commit | undefined;
  /** Of the last commit. */
  readonly outcome: CommitOutcome | undefined;
}

const nothing: Held = { draft: emptyDraft, commit: undefined, outcome: undefined };

/**
 * The drafts of this page, by user and environment. They stay while the user looks at other pages, and are kept nowhere
 * else: before the page is left with one, the browser asks.
 */
const drafts = new Map<string, Held>();
const listeners = new Set<() => void>();

window.addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(({ draft }) => draft.size > 0)) event.preventDefault();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Whose draft it is, and of which environment. */
export interface DraftOf {
  readonly userId: string;
  readonly place: Place;
}

const idOf = ({ userId, place }: DraftOf): string => `${userId} ${pathOf(place)}`;

/** What is held now. */
export function heldOf(of: DraftOf): Held {
  return drafts.get(idOf(of)) ?? nothing;
}

/** Replaces what is held by what the function makes of it. */
export function updateHeld(of: DraftOf, update: (held: Held) => Held): void {
  const held = update(heldOf(of));
  if (held.draft.size === 0 && held.commit === undefined && held.outcome === undefined) drafts.delete(idOf(of));
  else drafts.set(idOf(of), held);
  for (const listener of listeners) listener();
}

/** Forgets how the last commit ended, which the user has read. */
export function forgetOutcome(of: DraftOf): void {
  if (heldOf(of).outcome !== undefined) updateHeld(of, (held) => ({ ...held, outcome: undefined }));
}

/** Forgets all drafts. */
export function clearDrafts(): void {
  drafts.clear();
  for (const listener of listeners) listener();
}

export interface HeldDraft extends Held {
  /** Replaces the draft by what the function makes of the present one. What is being saved stays in it. */
  readonly change: (update: (draft: Draft) => Draft) => void;
}

/** The draft of a user for an environment. */
export function useDraft(of: DraftOf): HeldDraft {
  const held = useSyncExternalStore(subscribe, () => heldOf(of));
  return {
    ...held,
    change: (update) =>
      updateHeld(of, ({ commit, outcome, ...present }) => {
        const draft = keepSaving(update(present.draft), commit);
        if (draft.size > 0) return { draft, commit, outcome };
        return { draft, commit: undefined, outcome: outcome?.kind === 'saved' ? outcome : undefined };
      }),
  };
}
