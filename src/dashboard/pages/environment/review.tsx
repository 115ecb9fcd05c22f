import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { CommentField } from '../../parts/form/comment-field.tsx';
import { Plan, PlanRow } from '../../parts/plan.tsx';
import type { DividedPlan } from '../../text/commit.ts';
import { counted } from '../../text/counted.ts';
import { dropFromDraft, type PlannedChange } from '../../text/draft.ts';
import type { Place } from '../../text/place.ts';
import { CommitNotice } from './commit-notice.tsx';
import { Conflict } from './conflict.tsx';
import type { HeldKeys } from './held-keys.ts';

export interface ReviewProps {
  readonly place: Place;
  /** What is being saved, and the changes of the draft that are not. */
  readonly plan: DividedPlan;
  readonly held: HeldKeys;
  readonly onClose: () => void;
  /** Saves the changes with a comment. */
  readonly onSave: (comment: string) => void;
}

/** The plan of a draft, and the form that saves it as one revision. */
export function Review({ place, plan, held, onClose, onSave }: ReviewProps): ReactNode {
  const [comment, setComment] = useState('');
  const isSaving = plan.saving.length > 0;
  const shown = isSaving ? plan.saving : plan.rest;
  const conflicts = shown.filter(({ isConflict }) => isConflict);
  return (
    <Drawer
      title={`Review ${counted(shown.length, 'change')}`}
      wide
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button
            look="primary"
            busy={isSaving || conflicts.length > 0 || shown.length === 0}
            onClick={() => onSave(comment.trim())}
          >
            {isSaving ? 'Saving…' : 'Commit'}
          </Button>
        </>
      }
    >
      <div className="form">
        <CommitNotice
          place={place}
          commit={held.commit}
          // What was saved is on the page: this is the plan of other changes.
          outcome={held.outcome?.kind === 'saved' ? undefined : held.outcome}
          conflicts={conflicts.length}
        />
        {shown.length === 0 ? <p className="muted">Nothing is left to change.</p> : undefined}
        <Changes place={place} plan={shown} isSaving={isSaving} held={held} />
        <CommentField value={comment} onChange={setComment} placeholder="Why? Every version of this change keeps it." />
      </div>
    </Drawer>
  );
}

interface ChangesProps extends Pick<ReviewProps, 'place' | 'held'> {
  readonly plan: readonly PlannedChange[];
  readonly isSaving: boolean;
}

function Changes({ place, plan, isSaving, held }: ChangesProps): ReactNode {
  return (
    <Plan name="Changes">
      {plan.map((change) => (
        <PlanRow
          key={change.key}
          change={change.change}
          name={change.key}
          actions={
            isSaving || change.isConflict ? undefined : (
              <Button
                look="quiet"
                aria-label={`Leave out ${change.key}`}
                onClick={() => held.change((draft) => dropFromDraft(draft, [change.key]))}
              >
                Leave out
              </Button>
            )
          }
        >
          {change.isConflict ? (
            <Conflict key={change.version} place={place} change={change} held={held} />
          ) : (
            <p className="muted small">{describe(change)}</p>
          )}
        </PlanRow>
      ))}
    </Plan>
  );
}

function describe({ change, version }: PlannedChange): string {
  if (change === 'add') return 'a new key';
  if (change === 'set') return `v${version} gets a new value`;
  return `v${version} is deleted; its history stays`;
}
