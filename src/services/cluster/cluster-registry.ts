import {
  checkHello,
  type PortProgram,
  type Hello,
  type HelloAnswer,
  portProtocol,
  type ProtocolRange,
  protocolRefusal,
} from '../../domain/clusters.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { validateIss } from '../../domain/trusted-issuers.ts';
import { isValidKey, readKeySet } from '../../identity/public-keys.ts';
import { isReported, keepReported } from '../../store/cluster-issuers.ts';
import { fixUid } from '../../store/cluster-registrations.ts';
import { claimCluster, type ClusterHolder, findCluster } from '../../store/clusters.ts';
import type { Database } from '../../store/database.ts';
import { notifyCluster } from '../../store/notify.ts';
import { inTransaction } from '../../store/transaction.ts';
import type { RefusedClusters } from '../access/refused-clusters.ts';

export interface ClusterRegistryDeps {
  readonly database: Pick<Database, 'pool' | 'transactionPool'>;
  readonly release: string;
  readonly refused: Pick<RefusedClusters, 'note'>;
  /** That this server knows; default: of this program. */
  readonly protocol?: ProtocolRange;
}

/**
 * Which cluster has which name. Claims and keyless tokens know a cluster by its name, so two clusters with one name
 * would share them.
 */
export class ClusterRegistry {
  readonly #database: ClusterRegistryDeps['database'];
  readonly #refused: ClusterRegistryDeps['refused'];
  readonly #server: PortProgram;

  constructor({ database, release, refused, protocol = portProtocol }: ClusterRegistryDeps) {
    this.#database = database;
    this.#refused = refused;
    this.#server = { release, protocol };
  }

  /**
   * Records that a controller of this cluster leads, and takes the name if it is new, or if its cluster was not seen
   * for 10 minutes. The name of a registered cluster has one uid until an instance admin changes that. A standby controller
   * only asks. Throws DomainError protocol_unsupported, cluster_unknown for another uid, invalid_input and store_unavailable.
   */
  async hello(cluster: string, hello: Hello & PortProgram): Promise<HelloAnswer> {
    checkHello(hello);
    const refusal = protocolRefusal(hello, this.#server);
    if (refusal !== undefined) throw refusal;
    const { uid, isLeading } = hello;
    const found = await this.#find(cluster, hello);
    const { state, isHome, now, uid: heldBy, seenAt } = found;
    const isOther = heldBy !== null && seenAt !== null && heldBy !== uid;
    if (isLeading && !isOther && state === 'enabled') await this.#keepIssuer(cluster, hello);
    return { state, holder: isOther ? { heldBy, seenAt } : undefined, isHome, now };
  }

  async #find(cluster: string, hello: Hello & PortProgram): Promise<ClusterHolder> {
    const { pool } = this.#database;
    const registered = await fixUid(pool, cluster, hello);
    if (registered !== undefined && registered !== null && registered !== hello.uid) {
      this.#refused.note({ cluster, reason: 'uid' });
      throw otherUid(cluster, { registered, uid: hello.uid });
    }
    const claim = { ...hello, isRegistered: registered !== undefined };
    return hello.isLeading ? await claimCluster(pool, cluster, claim) : await findCluster(pool, cluster);
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

function otherUid(
  cluster: string,
  { registered, uid }: { readonly registered: string; readonly uid: string },
): DomainError {
  return new DomainError(
    'cluster_unknown',
    `cluster ${cluster} is registered with the uid ${registered}, and this cluster has the uid ${uid}. If it was created again ` +
      `under its name, an instance admin runs \`keyframe cluster update ${cluster} --uid ${uid}\`; otherwise give one of both another name`,
  );
}
