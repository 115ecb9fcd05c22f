import { type ReactNode, useState } from 'react';
import { generatePath } from 'react-router';
import type { ChangeView } from '../../../wire/changes.ts';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { revertRequest, useApply, usePlan } from '../../api/plans.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { CheckField } from '../../parts/form/check-field.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Notice } from '../../parts/notice.tsx';
import { PlanDrawer } from '../../parts/plan-drawer.tsx';
import { PlannedKeys } from '../../parts/planned-keys.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { actorText } from '../../text/actor-text.ts';
import { counted } from '../../text/counted.ts';
import type { Place } from '../../text/place.ts';
import { revertKeys } from '../../text/planned-keys.ts';
import { originOf } from '../../text/timeline.ts';
import { changeOf } from './changed-keys.tsx';
import { RestoreRevision, type WayBackProps } from './restore-revision.tsx';
import { StateThen } from './state-then.tsx';
import type { HistoryDrawerProps } from './use-timeline.ts';

export interface RevisionDrawerProps extends HistoryDrawerProps {
  /** Its number, as the address has it. */
  readonly revision: string;
}

/** A revision: what it changed, the state at that time, how it differs from now, and the ways back. */
export function RevisionDrawer(props: RevisionDrawerProps): ReactNode {
  const { revision, place, present, rights, timeline, onClose } = props;
  const [wayBack, setWayBack] = useState<'revert' | 'restore'>();
  const change = timeline.entries
    .flatMap((entry) => (entry.kind === 'revision' ? [entry.change] : []))
    .find((candidate) => String(candidate.revision) === revision);
  const revisionId = change?.revisionId ?? revision;
  if (wayBack !== undefined) {
    const WayBack = wayBack === 'revert' ? Revert : RestoreRevision;
    return <WayBack {...props} revisionId={revisionId} onBack={() => setWayBack(undefined)} />;
  }
  const isPresent = present !== undefined && [present.revisionId, String(present.revision)].includes(revisionId);
  return (
    <Drawer
      key="details"
      title={`Revision ${revision}`}
      wide
      onClose={onClose}
      foot={
        rights.mayWrite ? (
          <>
            {isPresent ? undefined : <Button onClick={() => setWayBack('restore')}>Restore this state</Button>}
            <Button look="primary" onClick={() => setWayBack('revert')}>
              Revert this change
            </Button>
          </>
        ) : undefined
      }
    >
      {change === undefined ? (
        timeline.isLoading ? (
          <Skeleton name="Loading the revision" rows={2} />
        ) : undefined
      ) : (
        <Details change={change} place={place} />
      )}
      <StateThen place={place} revision={revisionId} present={present} />
    </Drawer>
  );
}

function Details({ change, place }: { readonly change: ChangeView; readonly place: Place }): ReactNode {
  const path = generatePath(dashboardPaths.environment, { ...place });
  const { origin, comment } = originOf(change);
  const changes = change.keys.map((changed) => ({
    key: changed.key,
    change: changeOf(changed),
    note: changed.version === null ? 'deleted' : `v${changed.version}`,
  }));
  return (
    <section className="drawer-section" aria-label="Change">
      <p className="muted">
        {origin === undefined ? 'Changed' : `${origin.name} ${origin.from},`} <Moment at={change.createdAt} /> by{' '}
        {actorText(change.changedByName, change.changedByCluster)}
      </p>
      {comment === null ? undefined : <p className="event-comment">{comment}</p>}
      <h3>It changed {counted(changes.length, 'key')}</h3>
      <PlannedKeys name="Changed keys" changes={changes} linkTo={(key) => `${path}?key=${encodeURIComponent(key)}`} />
    </section>
  );
}

function Revert({ revision, revisionId, place, present, onBack, onClose, onDone }: WayBackProps): ReactNode {
  const [overwrite, setOverwrite] = useState(false);
  const request = revertRequest(place, { revision: revisionId, overwrite });
  const plan = usePlan(request);
  const apply = useApply(place, request);
  const conflicts = plan.data?.conflicts ?? [];
  return (
    <PlanDrawer
      title={`Revert revision ${revision}`}
      intro={`Each key of revision ${revision} returns to what it was before. Later changes of other keys stay, and the history too.`}
      plan={plan}
      onBack={onBack}
      onClose={onClose}
      apply={apply}
      keysOf={revertKeys}
      present={present?.revisionId}
      label={`Revert revision ${revision}`}
      origin={`reverted revision ${revision}`}
      obstacle={
        conflicts.length > 0 && !overwrite ? (
          <Notice>
            {counted(conflicts.length, 'key')} changed again after this revision:{' '}
            {conflicts.map(({ key }) => key).join(', ')}. Nothing is reverted unless you decide to overwrite.
          </Notice>
        ) : undefined
      }
      onDone={(done) => onDone(`Reverted revision ${revision}, as revision ${done.revision}.`)}
    >
      {conflicts.length > 0 || overwrite ? (
        <CheckField isChecked={overwrite} onChange={setOverwrite}>
          Overwrite keys that changed again later
        </CheckField>
      ) : undefined}
    </PlanDrawer>
  );
}
