import type { ReactNode } from 'react';
import { generatePath, Navigate } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { useMe } from '../../api/me.ts';
import { organizationsOf } from '../../text/organizations.ts';
import { FirstStepsPage } from '../first-steps/index.tsx';

/** Leads to the overview of the user's organization; without one, it shows the first steps. */
export function HomePage(): ReactNode {
  const { data: user } = useMe();
  if (user === undefined) return <main id="content" className="page" />;
  const [organization] = organizationsOf(user);
  if (organization === undefined) return <FirstStepsPage />;
  return <Navigate to={generatePath(dashboardPaths.overview, { organization })} replace />;
}
