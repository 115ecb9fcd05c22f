import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { Notice } from '../../parts/notice.tsx';
import { counted } from '../../text/counted.ts';

interface WaitingRestoresProps {
  readonly organization: string;
  readonly count: number;
}

/** How many restores wait for an approval; nothing if none does. */
export function WaitingRestores({ organization, count }: WaitingRestoresProps): ReactNode {
  if (count === 0) return undefined;
  return (
    <Notice kind="info">
      {counted(count, 'restore waits', 'restores wait')} for an approval.{' '}
      <Link to={generatePath(dashboardPaths.restores, { organization })}>See what would change</Link>
    </Notice>
  );
}
