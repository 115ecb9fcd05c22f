import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { Notice } from '../../parts/notice.tsx';
import { SavedNotice } from '../../parts/saved-notice.tsx';
import type { Held } from '../../state/drafts.ts';
import type { CommitOutcome } from '../../text/commit.ts';
import { counted } from '../../text/counted.ts';
import type { Place } from '../../text/place.ts';

export interface CommitNoticeProps extends Pick<Held, 'commit' | 'outcome'> {
  readonly place: Place;
  /** How many keys of the draft other users changed. */
  readonly conflicts: number;
}

/** What became of the last commit: whether it is saved, why not, and what to do. */
export function CommitNotice({ commit, outcome, place, conflicts }: CommitNoticeProps): ReactNode {
  if (commit?.isLost === true) return <Lost place={place} outcome={outcome} />;
  if (outcome !== undefined) return <Ended place={place} outcome={outcome} conflicts={conflicts} />;
  if (conflicts === 0) return undefined;
  return <Notice>Other users changed {counted(conflicts, 'key')} of yours since you began. Choose for each.</Notice>;
}

function Lost({ outcome, place }: Pick<CommitNoticeProps, 'outcome' | 'place'>): ReactNode {
  return (
    <Notice>
      The response to your commit was lost, so it may be saved. Look at the <HistoryLink place={place} /> before you
      discard it, or commit again: the server saves it once at most.
      {outcome?.kind === 'refused' ? ` The last attempt was refused: ${outcome.message}` : undefined}
    </Notice>
  );
}

interface EndedProps extends Pick<CommitNoticeProps, 'place' | 'conflicts'> {
  readonly outcome: CommitOutcome;
}

function Ended({ outcome, place, conflicts }: EndedProps): ReactNode {
  if (outcome.kind === 'saved') return <SavedNotice place={place}>{outcome.report}</SavedNotice>;
  if (outcome.kind === 'unclear') {
    return (
      <Notice>
        The response to your commit was lost. What the environment does not have of it is still in your draft. The{' '}
        <HistoryLink place={place} /> has what was saved.
        {conflicts === 0 ? undefined : ` ${counted(conflicts, 'key')} changed since you began: choose for each.`}
      </Notice>
    );
  }
  const { code, message } = outcome;
  if (code !== 'version_mismatch') return <Notice>{message} Nothing was saved, and your draft is complete.</Notice>;
  return (
    <Notice>
      Another user changed this environment at the same moment. Nothing was saved, and your draft is complete.
      {conflicts === 0
        ? ' None of your keys was changed: review, and commit again.'
        : ` ${counted(conflicts, 'key')} of yours changed too: choose for each.`}
    </Notice>
  );
}

function HistoryLink({ place }: Pick<CommitNoticeProps, 'place'>): ReactNode {
  return <Link to={generatePath(dashboardPaths.history, { ...place })}>history</Link>;
}
