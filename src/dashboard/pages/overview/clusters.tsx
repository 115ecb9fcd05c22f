import type { ReactNode } from 'react';
import { ClusterState } from '../../parts/cluster-state.tsx';
import type { ClusterSummary } from '../../text/fleet-summary.ts';

/** The clusters that read the organization, and when each last reported everything. */
export function Clusters({ clusters }: { readonly clusters: readonly ClusterSummary[] }): ReactNode {
  if (clusters.length === 0) return undefined;
  return (
    <section className="section">
      <h2>Clusters</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Cluster</th>
            <th scope="col">State</th>
            <th scope="col" className="cell-number">
              SecretSyncs
            </th>
          </tr>
        </thead>
        <tbody>
          {clusters.map(({ name, isStale, seenAt, consumers }) => (
            <tr key={name}>
              <th scope="row" className="mono cell-main">
                {name}
              </th>
              <td className="cluster-state">
                <ClusterState isStale={isStale} seenAt={seenAt} />
              </td>
              <td className="cell-number">{consumers}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
