import { type ReactNode, useState } from 'react';
import type { SnapshotView } from '../../../wire/snapshots.ts';
import { restoreRequest, useApply, usePlan } from '../../api/plans.ts';
import { Button } from '../../parts/button.tsx';
import { Drawer } from '../../parts/drawer.tsx';
import { CheckField } from '../../parts/form/check-field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Moment } from '../../parts/moment.tsx';
import { PlanDrawer } from '../../parts/plan-drawer.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useSnapshot } from '../../api/timeline.ts';
import { actorText } from '../../text/actor-text.ts';
import { counted } from '../../text/counted.ts';
import { restoreKeys } from '../../text/planned-keys.ts';
import { StateThen } from './state-then.tsx';
import type { HistoryDrawerProps } from './use-timeline.ts';

export interface SnapshotDrawerProps extends HistoryDrawerProps {
  readonly id: string;
}

/** A snapshot: the state that it holds, how it differs from now, and the way back. */
export function SnapshotDrawer(props: SnapshotDrawerProps): ReactNode {
  const { id, place, present, rights, onClose } = props;
  const [isRestoring, setRestoring] = useState(false);
  const snapshot = useSnapshot(place, id);
  const title = snapshot.data?.name ?? 'Snapshot';
  if (isRestoring && snapshot.data !== undefined) {
    return <Restore {...props} snapshot={snapshot.data} onBack={() => setRestoring(false)} />;
  }
  return (
    <Drawer
      key="details"
      title={title}
      wide
      onClose={onClose}
      foot={
        rights.mayWrite && snapshot.data !== undefined ? (
          <Button look="primary" onClick={() => setRestoring(true)}>
            Restore this state
          </Button>
        ) : undefined
      }
    >
      <Loaded query={snapshot} waiting={<Skeleton name="Loading the snapshot" rows={4} />}>
        {(found) => (
          <>
            <Details snapshot={found} />
            <StateThen place={place} revision={found.revisionId ?? '0'} present={present} />
          </>
        )}
      </Loaded>
    </Drawer>
  );
}

function Details({ snapshot }: { readonly snapshot: SnapshotView }): ReactNode {
  const { createdAt, createdByName, createdByCluster, description, revision, secretCount } = snapshot;
  return (
    <section className="drawer-section" aria-label="Snapshot">
      <p className="muted">
        {counted(secretCount, 'key')} at revision {revision}, taken <Moment at={createdAt} /> by{' '}
        {actorText(createdByName, createdByCluster)}
      </p>
      {description === null ? undefined : <p className="event-comment">{description}</p>}
    </section>
  );
}

interface RestoreProps extends SnapshotDrawerProps {
  readonly snapshot: SnapshotView;
  readonly onBack: () => void;
}

const options = [
  ['includeDeleted', 'Bring back keys that were deleted since'],
  ['prune', 'Delete keys that were created since'],
  ['backup', 'Take a snapshot of the present state first'],
] as const;

function Restore({ snapshot, place, present, onBack, onClose, onDone }: RestoreProps): ReactNode {
  const [chosen, setChosen] = useState({ includeDeleted: true, prune: false, backup: true });
  const request = restoreRequest(place, { snapshotId: snapshot.id, ...chosen });
  const plan = usePlan(request);
  const apply = useApply(place, request);
  return (
    <PlanDrawer
      title={`Restore ${snapshot.name ?? 'the snapshot'}`}
      intro={
        'Keys with another value get a new version with the value of the snapshot. It is one revision, and no version is removed.'
      }
      plan={plan}
      onBack={onBack}
      onClose={onClose}
      apply={apply}
      keysOf={restoreKeys}
      present={present?.revisionId}
      label="Restore"
      origin={`restored from snapshot ${snapshot.id}`}
      onDone={({ revision }) => onDone(`Restored, as revision ${revision}.`)}
    >
      <fieldset className="checks">
        <legend className="visually-hidden">What to restore</legend>
        {options.map(([name, label]) => (
          <CheckField
            key={name}
            isChecked={chosen[name]}
            onChange={(isChecked) => setChosen({ ...chosen, [name]: isChecked })}
          >
            {label}
          </CheckField>
        ))}
      </fieldset>
    </PlanDrawer>
  );
}
