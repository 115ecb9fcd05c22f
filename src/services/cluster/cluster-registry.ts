import {
  checkHello,
  type PortProgram,
  type Hello,
  type HelloAnswer,
  portProtocol,
  type ProtocolRange,
  protocolRefusal,
} from '../../domain/clusters.ts';
import { validateIss } from '../../domain/trusted-issuers.ts';
import { isValidKey, readKeySet } from '../../identity/public-keys.ts';
import { isReported, keepReported } from '../../store/cluster-issuers.ts';
import { claimCluster, findCluster } from '../../store/clusters.ts';
import type { Database } from '../../store/database.ts';
import { notifyCluster } from '../../store/notify.ts';
import { inTransaction } from '../../store/transaction.ts';

export interface ClusterRegistryDeps {
  readonly database: Pick<Database, 'pool' | 'transactionPool'>;
  readonly release: string;
  /** That this server knows; default: of this program. */
  readonly protocol?: ProtocolRange;
}

/**
 * Which cluster has which name. Claims and keyless tokens know a cluster by its name, so two clusters with one name
 * would share them.
 */
export class ClusterRegistry {
  readonly #database: ClusterRegistryDeps['database'];
  readonly #server: PortProgram;

  constructor({ database, release, protocol = portProtocol }: ClusterRegistryDeps) {
    this.#database = database;
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
    const { pool } = this.#database;
    const found = isLeading ? await claimCluster(pool, cluster, hello) : await findCluster(pool, cluster);
    const { state, now, uid: heldBy, seenAt } = found;
    const isOther = heldBy !== null && seenAt !== null && heldBy !== uid;
    if (isLeading && !isOther && state === 'enabled') await this.#keepIssuer(cluster, hello);
    return { state, holder: isOther ? { heldBy, seenAt } : undefined, now };
  }

  /** Leaves out keys that verify nothing here. An issuer without a usable key, or with an odd name, stays unknown. */
  async #keepIssuer(cluster: string, { uid, issuer }: Hello): Promise<void> {
    const read = issuer === undefined ? [] : (readKeySet({ keys: issuer.keys })?.keys ?? []);
    const keys = read.filter(isValidKey);
    if (issuer === undefined || keys.length === 0 || validateIss(issuer.iss) !== undefined) return;
    // API servers of one cluster may list them in another order.
    const keySet = { keys: keys.toSorted((one, other) => ((one.kid ?? '') < (other.kid ?? '') ? -1 : 1)) };
    const algorithms = [...new Set(keys.map(({ alg }) => alg))];
    const reported = { cluster, uid, iss: issuer.iss, keySet, algorithms };
    if (await isReported(this.#database.pool, reported)) return;
    await inTransaction(this.#database, async (tx) => {
      // ServiceTokens wait for their first issuer.
      if (await keepReported(tx, reported)) await notifyCluster(tx, { name: cluster, isHome: true }, 'enabled');
    });
  }
}
