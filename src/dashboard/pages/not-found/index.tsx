import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import { Page } from '../../parts/page.tsx';

export function NotFoundPage(): ReactNode {
  return (
    <Page
      title="Page not found"
      intro="This address leads to no page of the dashboard. It may be from another release."
    >
      <Link className="button button-plain" to={dashboardPaths.home}>
        Go to the start
      </Link>
    </Page>
  );
}
