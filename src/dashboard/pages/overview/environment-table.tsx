import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { ProjectPlaces } from '../../api/places.ts';
import { Status } from '../../parts/status.tsx';
import type { HealthCounts } from '../../text/fleet-summary.ts';
import { toneOf } from './health.ts';

export interface EnvironmentTableProps {
  readonly organization: string;
  readonly projects: readonly ProjectPlaces[];
  /** By the id of the environment; undefined while it loads. */
  readonly health: ReadonlyMap<string, HealthCounts> | undefined;
}

/** The environments of an organization, with what reads each. */
export function EnvironmentTable({ organization, projects, health }: EnvironmentTableProps): ReactNode {
  return (
    <table className="table">
      <thead>
        <tr>
          <th scope="col">Environment</th>
          <th scope="col">SecretSyncs</th>
          <th scope="col" className="cell-number">
            Revision
          </th>
        </tr>
      </thead>
      <tbody>
        {projects.flatMap(({ project, environments }) =>
          environments.map((environment) => (
            <tr key={environment.id}>
              <th scope="row" className="cell-main">
                <Link
                  to={generatePath(dashboardPaths.environment, {
                    organization,
                    project: project.slug,
                    environment: environment.slug,
                  })}
                >
                  <span className="muted">{project.slug} / </span>
                  {environment.slug}
                </Link>
                {environment.protected === true ? <span className="badge">Protected</span> : undefined}
              </th>
              <td>{health === undefined ? undefined : <Readers counts={health.get(environment.id)} />}</td>
              <td className="cell-number muted">{environment.revision}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

const none: HealthCounts = { healthy: 0, progressing: 0, stalled: 0, suspended: 0 };
const shown = ['stalled', 'progressing', 'suspended', 'healthy'] as const;

function Readers({ counts = none }: { readonly counts: HealthCounts | undefined }): ReactNode {
  const present = shown.filter((health) => counts[health] > 0);
  if (present.length === 0) return <span className="muted">None</span>;
  return (
    <span className="statuses">
      {present.map((health) => (
        <Status key={health} tone={toneOf(health)}>
          {counts[health]} {health}
        </Status>
      ))}
    </span>
  );
}
