import {
  checkHello,
  type PortProgram,
  type Hello,
  type HelloAnswer,
  portProtocol,
  type ProtocolRange,
  protocolRefusal,
} from '../../domain/clusters.ts';
import { claimCluster, findCluster } from '../../store/clusters.ts';
import type { Database } from '../../store/database.ts';

export interface ClusterRegistryDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly release: string;
  /** That this server knows; default: of this program. */
  readonly protocol?: ProtocolRange;
}

/**
 * Which cluster has which name. Claims and keyless tokens know a cluster by its name, so two clusters with one name
 * would share them.
 */
export class ClusterRegistry {
  readonly #pool: Database['pool'];
  readonly #server: PortProgram;

  constructor({ database, release, protocol = portProtocol }: ClusterRegistryDeps) {
    this.#pool = database.pool;
    this.#server = { release, protocol };
  }

  /**
   * Records that a controller of this cluster leads, and takes the name if it is new, or if its cluster was not seen
   * for 10 minutes. A standby controller only asks. Throws DomainError protocol_unsupported, invalid_input and
   * store_unavailable.
   */
  async hello(cluster: string, hello: Hello & PortProgram): Promise<HelloAnswer> {
    checkHello(hello);
    const refusal = protocolRefusal(hello, this.#server);
    if (refusal !== undefined) throw refusal;
    const { uid, isLeading } = hello;
    const found = isLeading ? await claimCluster(this.#pool, cluster, hello) : await findCluster(this.#pool, cluster);
    const { state, now, uid: heldBy, seenAt } = found;
    const isOther = heldBy !== null && seenAt !== null && heldBy !== uid;
    return { state, holder: isOther ? { heldBy, seenAt } : undefined, now };
  }
}
