import type { NameHolder } from '../../domain/clusters.ts';
import { claimCluster } from '../../store/clusters.ts';
import type { Database } from '../../store/database.ts';

/**
 * Which cluster has which name. Claims and keyless tokens know a cluster by its name, so two clusters with one name
 * would share them.
 */
export class ClusterRegistry {
  readonly #pool: Database['pool'];

  constructor({ database }: { readonly database: Pick<Database, 'pool'> }) {
    this.#pool = database.pool;
  }

  /**
   * Records that a controller of this cluster leads, and takes the name if it is new, or if its cluster was not seen
   * for 10 minutes. `uid` is that of the namespace kube-system. Throws DomainError store_unavailable.
   */
  async claim(cluster: string, uid: string): Promise<'ours' | NameHolder> {
    const holder = await claimCluster(this.#pool, cluster, uid);
    return holder.uid === uid ? 'ours' : { heldBy: holder.uid, seenAt: holder.seenAt };
  }
}
