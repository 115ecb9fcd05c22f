import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Status, type Tone } from '../../parts/status.tsx';
import type { AccessCell, AccessRow } from '../../text/access-matrix.ts';

/** An environment, by slugs. */
export interface Column {
  readonly id: string;
  readonly project: string;
  readonly environment: string;
}

export interface AccessTableProps {
  readonly rows: readonly AccessRow[];
  readonly columns: readonly Column[];
  /** The query that opens a cell: cluster, namespace and the id of the environment. */
  readonly linkTo: (cell: string) => string;
}

/** Namespaces and environments. It scrolls sideways by itself; the namespaces stay in view. */
export function AccessTable({ rows, columns, linkTo }: AccessTableProps): ReactNode {
  return (
    <section className="matrix" aria-label="Namespaces and environments">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Namespace</th>
            {columns.map(({ id, project, environment }) => (
              <th key={id} scope="col">
                {project} / {environment}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ cluster, namespace, cells }) => (
            <tr key={`${cluster} ${namespace}`}>
              <th scope="row" className="cell-main">
                {namespace}
                <span className="small muted cell-below">{cluster}</span>
              </th>
              {columns.map((column) => (
                <td key={column.id}>
                  <Cell
                    cell={cells.get(column.id)}
                    name={`${namespace} in ${cluster}, ${column.project} / ${column.environment}`}
                    to={linkTo(`${cluster} ${namespace} ${column.id}`)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const states: Readonly<Record<AccessCell['state'], readonly [tone: Tone, word: string]>> = {
  reads: ['good', 'Reads'],
  refused: ['danger', 'Refused'],
  revoked: ['warn', 'Revoked'],
};

export function AccessStatus({ state }: Pick<AccessCell, 'state'>): ReactNode {
  const [tone, word] = states[state];
  return <Status tone={tone}>{word}</Status>;
}

interface CellProps {
  readonly cell: AccessCell | undefined;
  readonly name: string;
  readonly to: string;
}

function Cell({ cell, name, to }: CellProps): ReactNode {
  if (cell === undefined) return <span className="muted">–</span>;
  return (
    <Link to={to} className="matrix-cell">
      <AccessStatus state={cell.state} />
      <span className="visually-hidden"> for {name}</span>
    </Link>
  );
}
