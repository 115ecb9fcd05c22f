import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { counted } from '../../text/counted.ts';
import type { PlannedChange } from '../../text/draft.ts';

export interface DraftBarProps {
  readonly plan: readonly PlannedChange[];
  readonly onDiscard: () => void;
  readonly onReview: () => void;
}

/** At the bottom of the window while there are changes that are not saved. */
export function DraftBar({ plan, onDiscard, onReview }: DraftBarProps): ReactNode {
  const conflicts = plan.filter(({ isConflict }) => isConflict).length;
  return (
    <section className="draft-bar" aria-label="Draft">
      <p>
        <strong>{counted(plan.length, 'change')}</strong> not saved
        {conflicts === 0 ? undefined : <span className="draft-conflicts">{counted(conflicts, 'conflict')}</span>}
      </p>
      <Button look="quiet" onClick={onDiscard}>
        Discard
      </Button>
      <Button look="primary" onClick={onReview}>
        Review
      </Button>
    </section>
  );
}
