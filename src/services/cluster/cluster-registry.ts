import type { Hello, HelloAnswer } from '../../domain/clusters.ts';
import { claimCluster, findCluster } from '../../store/clusters.ts';
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
   * for 10 minutes. A standby controller only asks. Throws DomainError store_unavailable.
   */
  async hello(cluster: string, { uid, isLeading }: Hello): Promise<HelloAnswer> {
    const found = isLeading ? await claimCluster(this.#pool, cluster, uid) : await findCluster(this.#pool, cluster);
    const { state, now, uid: heldBy, seenAt } = found;
    const isOther = heldBy !== null && seenAt !== null && heldBy !== uid;
    return { state, holder: isOther ? { heldBy, seenAt } : undefined, now };
  }
}
