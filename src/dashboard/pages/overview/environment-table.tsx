import type { ReactNode } from 'react';
import { generatePath, Link } from 'react-router';
import { dashboardPaths } from '../../../wire/dashboard-paths.ts';
import type { ProjectPlaces } from '../../api/places.ts';
import { Status } from '../../parts/status.tsx';
import type { ReadEnvironment } from '../../text/fleet-summary.ts';
import { concerns, type Whereabouts } from '../../text/newest.ts';
import { toneOf } from './health.ts';

export interface EnvironmentTableProps {
  readonly organization: string;
  readonly projects: readonly ProjectPlaces[];
  /** By the id of the environment; undefined while it loads. */
  readonly readers: ReadonlyMap<string, ReadEnvironment> | undefined;
}

/** The environments of an organization, with what reads each. */
export function EnvironmentTable({ organization, projects, readers }: EnvironmentTableProps): ReactNode {
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
                {environment.protected ? <span className="badge">Protected</span> : undefined}
              </th>
              <td>{readers === undefined ? undefined : <Readers where={readers.get(environment.id)} />}</td>
              <td className="cell-number muted">{readers?.get(environment.id)?.revision ?? environment.revision}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

function Readers({ where }: { readonly where: Whereabouts | undefined }): ReactNode {
  if (where === undefined) return <span className="muted">None</span>;
  const { well, counts } = where;
  return (
    <span className="statuses">
      {concerns
        .filter((concern) => counts[concern] > 0)
        .map((concern) => (
          <Status key={concern} tone={toneOf(concern)}>
            {counts[concern]} {concern}
          </Status>
        ))}
      {well === 0 ? undefined : <Status tone={toneOf('healthy')}>{well} healthy</Status>}
    </span>
  );
}
