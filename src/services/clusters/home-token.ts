import { parseToken } from '../../crypto/token.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Database } from '../../store/database.ts';
import { listHomeClusters } from '../../store/clusters.ts';
import { putHomeToken } from '../../store/home-token.ts';
import { notifyCluster } from '../../store/notify.ts';
import { inTransaction } from '../../store/transaction.ts';

/** The hash of the home token that a file holds; undefined for another text. */
function homeTokenHash(text: string): Uint8Array | undefined {
  const token = parseToken(text.trim());
  return token?.kind === 'cluster' ? token.hash : undefined;
}

export interface HomeTokenDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly logger: Logger;
}

/**
 * Makes the token that a file holds the home token, which the controllers of home clusters present. The one before counts
 * for another hour. Throws an Error for another text, which repeats nothing of it, and DomainError store_unavailable.
 */
export async function keepHomeToken({ database, logger }: HomeTokenDeps, text: string): Promise<void> {
  const hash = homeTokenHash(text);
  if (hash === undefined) throw new Error('KEYFRAME_HOME_TOKEN_FILE holds no whole kf_cls_… token');
  if (await replaceHomeToken(database, hash)) {
    logger.info('the home token is a new one; the one before, if any, works for another hour');
  }
}

/** Returns whether it is a new one. Streams of home clusters end: the token that opened them may not count any more. */
async function replaceHomeToken(database: HomeTokenDeps['database'], hash: Uint8Array): Promise<boolean> {
  return await inTransaction(database, async (tx) => {
    if (!(await putHomeToken(tx, hash))) return false;
    for (const cluster of await listHomeClusters(tx)) await notifyCluster(tx, cluster, cluster.state);
    return true;
  });
}
