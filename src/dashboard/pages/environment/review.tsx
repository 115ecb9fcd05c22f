import { type ReactNode, useId, useState } from 'react';
import type { SecretPatchView } from '../../../wire/secrets.ts';
import type { ApiError } from '../../api/client.ts';
import { useCommit } from '../../api/secrets.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { Notice } from '../../parts/notice.tsx';
import { Plan, PlanRow } from '../../parts/plan.tsx';
import { counted } from '../../text/counted.ts';
import { dropFromDraft, type PlannedChange, requestOf } from '../../text/draft.ts';
import type { Place } from '../../text/place.ts';
import { Conflict } from './conflict.tsx';
import type { HeldKeys } from './held.ts';

export interface ReviewProps {
  readonly place: Place;
  readonly plan: readonly PlannedChange[];
  /** The revision that the plan is for. */
  readonly revisionId: string;
  readonly held: HeldKeys;
  readonly onClose: () => void;
  /** Takes what the user reads, and the changes that were saved. It is called also after the panel was closed. */
  readonly onSaved: (report: string, saved: readonly PlannedChange[]) => void;
}

/** The plan of a draft, and the form that saves it as one revision. */
export function Review({ place, plan, revisionId, held, onClose, onSaved }: ReviewProps): ReactNode {
  const [comment, setComment] = useState('');
  const [isLost, setLost] = useState(false);
  const [sent, setSent] = useState(plan);
  const commit = useCommit(place, (view) => onSaved(reportOf(view), plan));
  const id = useId();
  // The stream may report the commit before its response arrives. Until then, its keys are no conflicts.
  const shown = commit.isPending ? sent : plan;
  const conflicts = shown.filter(({ isConflict }) => isConflict);
  const save = (): void => {
    if (conflicts.length > 0 || plan.length === 0) return;
    setSent(plan);
    commit.mutate(
      { ...requestOf(plan), comment: comment.trim(), expectedRevision: revisionId },
      { onError: ({ status }) => setLost((wasLost) => wasLost || status === 0 || status >= 502) },
    );
  };
  return (
    <Drawer
      title={`Review ${counted(shown.length, 'change')}`}
      wide
      onClose={onClose}
      foot={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button look="primary" busy={commit.isPending || conflicts.length > 0 || shown.length === 0} onClick={save}>
            {commit.isPending ? 'Saving…' : 'Commit'}
          </Button>
        </>
      }
    >
      <div className="form">
        <State error={commit.error} conflicts={conflicts.length} isLost={isLost} />
        {shown.length === 0 ? <p className="muted">Nothing is left to change.</p> : undefined}
        <Changes place={place} plan={shown} held={held} />
        <div className="field">
          <label htmlFor={id}>Comment</label>
          <input
            id={id}
            className="input"
            value={comment}
            onChange={(event) => setComment(event.target.value)}
            placeholder="Why? Every version of this change keeps it."
            maxLength={1000}
            autoComplete="off"
          />
        </div>
      </div>
    </Drawer>
  );
}

type ChangesProps = Pick<ReviewProps, 'place' | 'plan' | 'held'>;

function Changes({ place, plan, held }: ChangesProps): ReactNode {
  return (
    <Plan name="Changes">
      {plan.map((change) => (
        <PlanRow
          key={change.key}
          change={change.change}
          name={change.key}
          actions={
            change.isConflict ? undefined : (
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

interface StateProps {
  /** Of the last attempt to save. */
  readonly error: ApiError | null;
  readonly conflicts: number;
  /** Whether the response to an attempt was lost, which may have been saved. */
  readonly isLost: boolean;
}

/** Why it is not saved yet. */
function State({ error, conflicts, isLost }: StateProps): ReactNode {
  if (isLost) {
    return (
      <Notice>
        The response to your commit was lost, so it may be saved already.
        {conflicts === 0 ? ' Try again: what is saved changes nothing.' : ' Show the values of each key, then choose.'}
      </Notice>
    );
  }
  if (error?.code === 'version_mismatch') {
    return (
      <Notice>
        Another user changed this environment at the same moment. Nothing was saved, and your draft is complete.
        {conflicts === 0
          ? ' None of your keys was changed: review, and commit again.'
          : ` ${counted(conflicts, 'key')} of yours changed too: choose for each.`}
      </Notice>
    );
  }
  if (error !== null) return <Notice>{error.message}</Notice>;
  if (conflicts === 0) return undefined;
  return <Notice>Other users changed {counted(conflicts, 'key')} of yours since you began. Choose for each.</Notice>;
}

function describe({ change, version }: PlannedChange): string {
  if (change === 'add') return 'a new key';
  if (change === 'set') return `v${version} gets a new value`;
  return `v${version} is deleted; its history stays`;
}

function reportOf({ set, deleted, unchanged, revision }: SecretPatchView): string {
  const parts = [
    set.length === 0 ? '' : `${set.length} set`,
    deleted.length === 0 ? '' : `${deleted.length} deleted`,
    unchanged.length === 0 ? '' : `${unchanged.length} had this value already`,
  ].filter((part) => part !== '');
  return `Saved as revision ${revision}: ${parts.join(', ')}.`;
}
