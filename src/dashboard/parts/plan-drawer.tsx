import { type ReactNode, useState } from 'react';
import type { UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../api/client.ts';
import type { Application, Planned } from '../api/plans.ts';
import type { KeyPlan } from '../text/planned-keys.ts';
import { Button } from './button.tsx';
import { Drawer } from './drawer.tsx';
import { Failure } from './failure.tsx';
import { CommentField } from './form/comment-field.tsx';
import { Notice } from './notice.tsx';
import { LeftKeys, PlannedKeys } from './planned-keys.tsx';
import { Skeleton } from './skeleton.tsx';

/** The codes of a plan that is no longer what would happen. */
const outdated = new Set(['version_mismatch', 'plan_outdated']);
/** With what stands before it, the comment has at most what the API takes. */
const maxComment = 800;

export interface PlanDrawerProps<View extends Planned> {
  readonly title: string;
  /** What is done, in a sentence or two. */
  readonly intro: string;
  readonly plan: UseQueryResult<View, ApiError>;
  readonly apply: UseMutationResult<View, ApiError, Application>;
  /** What it does to each key. */
  readonly keysOf: (view: View) => KeyPlan;
  /** The id of the present revision, as far as it is known. */
  readonly present: string | undefined;
  /** What the button says: "Restore". */
  readonly label: string;
  /** Stands before the user's comment. */
  readonly origin: string;
  /** Why the plan cannot be applied as it is. */
  readonly obstacle?: ReactNode;
  /** What the user may choose; each choice has a plan of its own. */
  readonly children?: ReactNode;
  readonly onDone: (view: View) => void;
  readonly onBack: () => void;
  readonly onClose: () => void;
}

/** A plan of the server, and the button that does exactly what it says. If the environment changes meanwhile, nothing is done. */
export function PlanDrawer<View extends Planned>(props: PlanDrawerProps<View>): ReactNode {
  const { title, intro, plan, apply, keysOf, label, origin, obstacle, children, onDone, onBack, onClose } = props;
  const [comment, setComment] = useState('');
  const view = plan.data;
  const found = view === undefined ? undefined : keysOf(view);
  const isBusy = apply.isPending || plan.isFetching;
  const mayApply = found !== undefined && found.changes.length > 0 && obstacle === undefined && !isBusy;
  const run = (): void => {
    if (view === undefined || !mayApply) return;
    const text = comment.trim();
    apply.mutate(
      { plan: view, comment: text === '' ? '' : `${origin}: ${text}` },
      { onSuccess: onDone, onError: ({ code }) => void (outdated.has(code) && plan.refetch()) },
    );
  };
  return (
    <Drawer
      title={title}
      wide
      onClose={onClose}
      foot={
        <>
          <Button busy={apply.isPending} onClick={onBack}>
            Back
          </Button>
          <Button look="primary" busy={!mayApply} onClick={run}>
            {apply.isPending ? 'Working…' : label}
          </Button>
        </>
      }
    >
      <div className="form">
        <p className="muted">{intro}</p>
        <PlanState {...props} />
        {children}
        <section className="drawer-section" aria-label="Plan" aria-busy={plan.isFetching}>
          <h3>Plan</h3>
          <PlanLists plan={plan} found={found} />
        </section>
        {obstacle}
        <CommentField
          value={comment}
          onChange={setComment}
          placeholder="Why? The history keeps it."
          maxLength={maxComment}
        />
      </div>
    </Drawer>
  );
}

/** Why it is not done yet, and whether the plan is still that of the present. */
function PlanState<View extends Planned>({ plan, apply, present }: PlanDrawerProps<View>): ReactNode {
  const { error } = apply;
  if (error !== null) {
    if (!outdated.has(error.code)) return <Notice>{error.message}</Notice>;
    return (
      <Notice>
        The environment has changed since the plan was made, so nothing was done. Review the new plan, then try again.
      </Notice>
    );
  }
  const planned = plan.isFetching ? undefined : plan.data?.revisionId;
  if (apply.isPending || planned === undefined || present === undefined || planned === present) return undefined;
  return (
    <Notice kind="info">
      Another user changed the environment since this plan.{' '}
      <button type="button" className="link" onClick={() => void plan.refetch()}>
        Plan again
      </button>
    </Notice>
  );
}

function PlanLists<View extends Planned>({
  plan,
  found,
}: Pick<PlanDrawerProps<View>, 'plan'> & { readonly found: KeyPlan | undefined }): ReactNode {
  if (found === undefined) {
    if (plan.error !== null) return <Failure error={plan.error} onRetry={() => void plan.refetch()} />;
    return <Skeleton name="Making the plan" rows={3} />;
  }
  return (
    <>
      {found.changes.length === 0 ? <p className="muted">Nothing is to be changed.</p> : undefined}
      <PlannedKeys name="Planned changes" changes={found.changes} />
      <LeftKeys left={found.left} />
    </>
  );
}
