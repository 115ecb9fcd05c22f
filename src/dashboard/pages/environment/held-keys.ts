import { useEffect, useMemo } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import type { SecretKeyListView } from '../../../wire/secrets.ts';
import { compareLost, saveDraft } from '../../state/commits.ts';
import { forgetOutcome, type HeldDraft, useDraft } from '../../state/drafts.ts';
import { type DividedPlan, dividePlan } from '../../text/commit.ts';
import { planOf, type Versions } from '../../text/draft.ts';
import type { Place } from '../../text/place.ts';

/** The draft, and the versions of the keys as they are now. */
export interface HeldKeys extends HeldDraft {
  readonly versions: Versions;
}

/** The draft of a user beside the present keys, its plan, and the function that saves it with a comment. */
export function useHeldKeys(
  place: Place,
  userId: string,
  list: SecretKeyListView,
): { readonly held: HeldKeys; readonly plan: DividedPlan; readonly save: (comment: string) => void } {
  const client = useQueryClient();
  const of = useMemo(() => ({ userId, place }), [userId, place]);
  const held = useDraft(of);
  const { draft, commit } = held;
  const versions = useMemo(() => new Map(list.secrets.map(({ key, version }) => [key, version])), [list]);
  const plan = useMemo(() => dividePlan(draft, planOf(draft, versions), commit), [draft, versions, commit]);
  // At the revision that it was made for, it may still be under way.
  const isDecided = commit?.isLost === true && commit.revisionId !== list.revisionId;
  useEffect(() => {
    if (!isDecided) return undefined;
    const left = new AbortController();
    void compareLost(of, versions, left.signal);
    return () => left.abort();
  }, [isDecided, of, versions]);
  // Who comes back has read it.
  useEffect(() => () => forgetOutcome(of), [of]);
  const save = (comment: string): void => {
    const { rest } = plan;
    if (rest.length === 0 || rest.some(({ isConflict }) => isConflict)) return;
    void saveDraft(client, of, { plan: rest, revisionId: list.revisionId, comment });
  };
  return { held: { ...held, versions }, plan, save };
}
