import { memo, type ReactNode } from 'react';
import { Link } from 'react-router';
import type { ChangeView } from '../../../wire/changes.ts';
import type { SnapshotView } from '../../../wire/snapshots.ts';
import { actorText } from '../../text/actor-text.ts';
import { counted } from '../../text/counted.ts';
import { originOf, type TimelineEntry } from '../../text/timeline.ts';
import { ClockTime } from '../../parts/clock-time.tsx';
import { ChangedKeys } from './changed-keys.tsx';

/** An entry of the history. All of it leads to its details. */
export const EventRow = memo(function EventRow({ entry }: { readonly entry: TimelineEntry }): ReactNode {
  return entry.kind === 'revision' ? <Revision change={entry.change} /> : <Snapshot snapshot={entry.snapshot} />;
});

function Revision({ change }: { readonly change: ChangeView }): ReactNode {
  const { revision, createdAt, changedByName, changedByCluster, keys } = change;
  const { origin, comment } = originOf(change);
  return (
    <li className={`event event-${origin === undefined ? 'change' : 'origin'}`}>
      <p className="event-title">
        <Link to={{ search: `?revision=${revision}` }} preventScrollReset>
          Revision {revision}
        </Link>
        {origin === undefined ? undefined : (
          <>
            <span className="badge">{origin.name}</span> <span className="muted">{origin.from}</span>
          </>
        )}
        <span className="event-by">
          <span className="event-name">{actorText(changedByName, changedByCluster)}</span> <ClockTime at={createdAt} />
        </span>
      </p>
      {comment === null ? undefined : <p className="event-comment">{comment}</p>}
      <ChangedKeys keys={keys} max={6} />
    </li>
  );
}

function Snapshot({ snapshot }: { readonly snapshot: SnapshotView }): ReactNode {
  const { id, name, description, createdAt, createdByName, createdByCluster, secretCount, revision } = snapshot;
  return (
    <li className="event event-snapshot">
      <p className="event-title">
        <Link to={{ search: `?snapshot=${id}` }} preventScrollReset>
          {name ?? 'Snapshot without a name'}
        </Link>
        <span className="badge">Snapshot</span>{' '}
        <span className="muted">
          {counted(secretCount, 'key')} at revision {revision}
        </span>
        <span className="event-by">
          <span className="event-name">{actorText(createdByName, createdByCluster)}</span> <ClockTime at={createdAt} />
        </span>
      </p>
      {description === null ? undefined : <p className="event-comment">{description}</p>}
    </li>
  );
}
