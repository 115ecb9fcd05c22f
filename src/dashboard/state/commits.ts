import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../api/client.ts';
import { meQuery } from '../api/me.ts';
import { commitSecrets, keysQuery, readVersionValue } from '../api/secrets.ts';
import { timelineKey } from '../api/timeline.ts';
import {
  type Commit,
  examineLost,
  type LostCommit,
  type CommitOutcome,
  savedReport,
  savedVersions,
  settle,
} from '../text/commit.ts';
import { type PlannedChange, requestOf, type Versions } from '../text/draft.ts';
import { pathOf } from '../text/place.ts';
import { type DraftOf, type Held, heldOf, updateHeld } from './drafts.ts';

/** Each comparison reads a value, which is audited. */
const [maxCompared, comparedAtOnce] = [100, 4];

/** What of a draft is to be saved. */
export interface CommitRequest {
  readonly plan: readonly PlannedChange[];
  /** The id of the revision that the plan is for. */
  readonly revisionId: string;
  readonly comment: string;
}

/**
 * Saves the changes of a draft as one revision. It belongs to the draft and not to a part of the page, which the user may
 * leave meanwhile. While one is under way there is no second one.
 */
export async function saveDraft(
  client: QueryClient,
  of: DraftOf,
  { plan, revisionId, comment }: CommitRequest,
): Promise<void> {
  const former = heldOf(of).commit;
  if (former !== undefined && !former.isLost) return;
  const commit: Commit = { plan, revisionId, isLost: false };
  updateHeld(of, (held) => ({ ...held, commit, outcome: undefined }));
  try {
    const view = await commitSecrets(of.place, { ...requestOf(plan), comment, expectedRevision: revisionId });
    end(of, commit, ({ draft }) => ({
      draft: settle(draft, plan, savedVersions(plan, view)),
      commit: undefined,
      outcome: { kind: 'saved', report: savedReport(view) },
    }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      void client.invalidateQueries({ queryKey: meQuery.queryKey });
    }
    // A refusal says nothing of an earlier attempt whose response was lost.
    end(of, commit, (held) =>
      isLoss(error)
        ? { ...held, commit: { ...commit, isLost: true } }
        : { ...held, commit: former, outcome: refused(error) },
    );
  }
  void client.invalidateQueries({ queryKey: keysQuery(of.place).queryKey });
  void client.invalidateQueries({ queryKey: timelineKey(pathOf(of.place)) });
}

/**
 * Compares a commit whose response was lost with a later state of the environment. The server saves a commit only at the
 * revision that it was made for, so this decides: what the environment has leaves the draft, and the rest stays.
 */
export async function compareLost(of: DraftOf, versions: Versions, signal: AbortSignal): Promise<void> {
  const { commit } = heldOf(of);
  if (commit?.isLost !== true) return;
  const { saved, unclear } = examineLost(commit.plan, versions);
  const equal = await equalOf(of, unclear.slice(0, maxCompared), signal);
  if (signal.aborted) return;
  const settled = [...saved, ...equal];
  const outcome: CommitOutcome =
    settled.length < commit.plan.length
      ? { kind: 'unclear' }
      : { kind: 'saved', report: 'The response to your commit was lost. The environment has all of its changes.' };
  end(of, commit, ({ draft }) => ({ draft: settle(draft, settled, versions), commit: undefined, outcome }));
}

/** Those whose value is that of the draft. One that cannot be read is not. */
async function equalOf(
  { place }: DraftOf,
  unclear: LostCommit['unclear'],
  signal: AbortSignal,
): Promise<readonly PlannedChange[]> {
  const equal: PlannedChange[] = [];
  const waiting = [...unclear];
  const run = async (): Promise<void> => {
    for (let change = waiting.shift(); change !== undefined && !signal.aborted; change = waiting.shift()) {
      const value = await readVersionValue(place, change.key, change.version).catch(() => undefined);
      if (value === change.entry.value) equal.push(change);
    }
  };
  await Promise.all(Array.from({ length: comparedAtOnce }, run));
  return equal;
}

/** Unless the draft was forgotten meanwhile, with everything about its commit. */
function end(of: DraftOf, commit: Commit, update: (held: Held) => Held): void {
  updateHeld(of, (held) => (held.commit === commit ? update(held) : held));
}

/** With these errors the server says that it did nothing. Any other failure may come after the change was saved. */
const nothingDone = new Set(['overloaded', 'key_unavailable']);

function isLoss(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return (error.status === 0 || error.status >= 500) && !nothingDone.has(error.code);
}

function refused(error: unknown): CommitOutcome {
  const { code, message } = error as ApiError;
  return { kind: 'refused', code, message };
}
