import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { useFleetConsumers } from '../../api/fleet.ts';
import { useMe } from '../../api/me.ts';
import { usePlaces } from '../../api/places.ts';
import { tokenHomes, useServiceTokens } from '../../api/service-tokens.ts';
import { CopyCommand } from '../../parts/copy-command.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Failure } from '../../parts/failure.tsx';
import { FilterField } from '../../parts/form/filter-field.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Portion } from '../../parts/portion.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { useFilters } from '../../parts/use-filters.ts';
import { type AccessRow, accessMatrix } from '../../text/access-matrix.ts';
import { adminOf } from '../../text/admin-of.ts';
import { AccessTable, type Column } from './access-table.tsx';
import { CellDrawer } from './cell-drawer.tsx';

/** Which namespaces read which environments. The grants themselves are in the clusters. */
export function GrantsPage(): ReactNode {
  const { organization = '' } = useParams();
  const { data: user } = useMe();
  const homes = tokenHomes(organization, adminOf(organization, user ?? { organizations: [] }));
  const consumers = useFleetConsumers(organization);
  const tokens = useServiceTokens(organization, homes);
  const places = usePlaces(organization);
  // All at once: a column that appears later would move the others.
  const waiting = <Skeleton name="Loading the namespaces" rows={5} />;
  return (
    <Page
      title="Grants"
      intro="Which namespaces read which environments. The AccessGrants that allow it are in the clusters, and no server stores them: this is what they let through."
      wide
    >
      <Loaded query={consumers} waiting={waiting}>
        {(list) => (
          <Loaded query={places} waiting={waiting}>
            {(projects) =>
              tokens.isLoading ? (
                waiting
              ) : tokens.error !== null && tokens.data === undefined ? (
                <Failure error={tokens.error} onRetry={() => void tokens.refetch()} />
              ) : (
                <Matrix
                  organization={organization}
                  columns={projects.flatMap(({ project, environments }) =>
                    environments.map(({ id, slug }) => ({ id, project: project.slug, environment: slug })),
                  )}
                  rows={accessMatrix(list, tokens.data ?? [])}
                  hidden={list.filter(({ namespace }) => namespace === null).length}
                  isAdmin={homes.length > 0}
                />
              )
            }
          </Loaded>
        )}
      </Loaded>
      <section className="section">
        <h2>The grants of a cluster</h2>
        <CopyCommand name="show the grants of a cluster">kubectl get accessgrants.keyframe.dev</CopyCommand>
      </section>
    </Page>
  );
}

interface MatrixProps {
  readonly organization: string;
  readonly columns: readonly Column[];
  readonly rows: readonly AccessRow[];
  /** How many SecretSyncs the user sees without their namespaces. */
  readonly hidden: number;
  /** Whether the user sees tokens. */
  readonly isAdmin: boolean;
}

function Matrix({ organization, columns, rows, hidden, isAdmin }: MatrixProps): ReactNode {
  const filters = useFilters();
  if (rows.length === 0 && hidden > 0) {
    return (
      <Empty title="You may not see namespaces">
        <p>That needs the role developer in {organization}. The overview has the SecretSyncs by name.</p>
      </Empty>
    );
  }
  if (rows.length === 0) {
    return (
      <Empty title="No namespace reads an environment yet">
        <p>Apply an AccessGrant and a SecretSync to a cluster. The first steps have both.</p>
      </Empty>
    );
  }
  const text = filters.get('q').trim().toLowerCase();
  const used = columns.filter(({ id }) => rows.some(({ cells }) => cells.has(id)));
  const shown = rows.filter(({ cluster, namespace }) => `${cluster} ${namespace}`.toLowerCase().includes(text));
  const open = cellIn(rows, used, filters.get('cell'));
  return (
    <>
      <div className="toolbar">
        <FilterField
          name="Filter by namespace or cluster"
          value={filters.get('q')}
          onChange={(q) => filters.set({ q })}
        />
        {isAdmin ? undefined : <p className="muted small">Admins also see the tokens and their last use.</p>}
      </div>
      {shown.length === 0 ? (
        <Empty title="No namespace matches" />
      ) : (
        <Portion entries={shown}>
          {(some) => <AccessTable rows={some} columns={used} linkTo={(cell) => filters.with({ cell })} />}
        </Portion>
      )}
      {open === undefined ? undefined : (
        <CellDrawer organization={organization} {...open} onClose={() => filters.set({ cell: '' })} />
      )}
    </>
  );
}

function cellIn(rows: readonly AccessRow[], columns: readonly Column[], id: string) {
  const [cluster, namespace, environment = ''] = id.split(' ');
  const row = rows.find((candidate) => candidate.cluster === cluster && candidate.namespace === namespace);
  const column = columns.find((candidate) => candidate.id === environment);
  const cell = row?.cells.get(environment);
  return row === undefined || column === undefined || cell === undefined ? undefined : { row, column, cell };
}
