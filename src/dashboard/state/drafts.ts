import { useSyncExternalStore } from 'react';
import { type Draft, emptyDraft } from '../text/draft.ts';

/**
 * The drafts of this page, by user and environment. They stay while the user looks at other pages, and are kept nowhere
 * else: before the page is left with one, the browser asks.
 */
const drafts = new Map<string, Draft>();
const listeners = new Set<() => void>();

window.addEventListener('beforeunload', (event) => {
  if (drafts.size > 0) event.preventDefault();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function store(id: string, draft: Draft): void {
  if (draft.size === 0) drafts.delete(id);
  else drafts.set(id, draft);
  for (const listener of listeners) listener();
}

/** Forgets all drafts. */
export function clearDrafts(): void {
  drafts.clear();
  for (const listener of listeners) listener();
}

export interface HeldDraft {
  readonly draft: Draft;
  /** Replaces the draft by what the function makes of the present one. */
  readonly change: (update: (draft: Draft) => Draft) => void;
}

/** The draft of a user for an environment. */
export function useDraft(userId: string, environment: string): HeldDraft {
  const id = `${userId} ${environment}`;
  const draft = useSyncExternalStore(subscribe, () => drafts.get(id) ?? emptyDraft);
  return { draft, change: (update) => store(id, update(drafts.get(id) ?? emptyDraft)) };
}
