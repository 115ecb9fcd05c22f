import type { ReactNode } from 'react';
import type { ClusterSummary } from '../text/fleet-summary.ts';
import { Moment } from './moment.tsx';
import { Status } from './status.tsx';

/** Whether the controller of a cluster reports, and when it last reported everything. */
export function ClusterState({ isStale, seenAt }: Pick<ClusterSummary, 'isStale' | 'seenAt'>): ReactNode {
  return (
    <>
      <Status tone={isStale ? 'warn' : 'good'}>{isStale ? 'Stale' : 'Reporting'}</Status>{' '}
      <span className="muted small">
        {seenAt === null ? (
          'never seen'
        ) : (
          <>
            seen <Moment at={seenAt} />
          </>
        )}
      </span>
    </>
  );
}
