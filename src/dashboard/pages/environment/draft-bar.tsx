import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import type { DividedPlan } from '../../text/commit.ts';
import { counted } from '../../text/counted.ts';

export interface DraftBarProps extends DividedPlan {
  /** Whether the response to a commit was lost. */
  readonly isLost: boolean;
  readonly onDiscard: () => void;
  readonly onReview: () => void;
}

/** At the bottom of the window while there are changes that are not saved. What is being saved cannot be discarded. */
export function DraftBar({ saving, rest, isLost, onDiscard, onReview }: DraftBarProps): ReactNode {
  const conflicts = rest.filter(({ isConflict }) => isConflict).length;
  const isSaving = saving.length > 0;
  if (!isSaving && rest.length === 0) return undefined;
  return (
    <section className="draft-bar" aria-label="Draft">
      <p>
        {isSaving ? <strong>Saving {counted(saving.length, 'change')}…</strong> : undefined}
        {isSaving && rest.length > 0 ? ' ' : undefined}
        {rest.length === 0 ? undefined : (
          <>
            <strong>{counted(rest.length, 'change')}</strong> {isLost ? 'may be saved' : 'not saved'}
          </>
        )}
        {conflicts === 0 ? undefined : <span className="draft-conflicts">{counted(conflicts, 'conflict')}</span>}
      </p>
      {isSaving ? undefined : (
        <Button look="quiet" onClick={onDiscard}>
          Discard
        </Button>
      )}
      <Button look="primary" onClick={onReview}>
        Review
      </Button>
    </section>
  );
}
