import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../wire/dashboard-paths.ts';
import type { Place } from '../text/place.ts';
import { Notice } from './notice.tsx';

export interface SavedNoticeProps {
  readonly place: Place;
  /** What was saved. Without it there is no notice. */
  readonly children: string;
}

/** What was saved, and the way to see which Secrets and pods have it. */
export function SavedNotice({ place, children }: SavedNoticeProps): ReactNode {
  if (children === '') return undefined;
  return (
    <Notice kind="done">
      {children} <Link to={generatePath(dashboardPaths.consumers, { ...place })}>See which consumers have it</Link>
    </Notice>
  );
}
