import type { Cell, Column } from '../terminal/printer.ts';

/** A field of a response. A server of the former release does not return it. */
type VouchingCluster = string | null | undefined;

/** The column of the clusters that vouched for actors. Most lists name none, so it is in a table only if one is named. */
export function clusterColumn<Row>(
  rows: readonly Row[],
  clusterOf: (row: Row) => VouchingCluster,
): readonly Column<Row>[] {
  const isNamed = rows.some((row) => typeof clusterOf(row) === 'string');
  return isNamed ? [{ title: 'CLUSTER', cell: clusterOf, isCut: true }] : [];
}

/** The same as a line about one thing. */
export function clusterField(cluster: VouchingCluster): readonly (readonly [title: string, cell: Cell])[] {
  return typeof cluster === 'string' ? [['Cluster', cluster]] : [];
}
