import { parseToken } from '../../crypto/token.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Database } from '../../store/database.ts';
import { putHomeToken } from '../../store/home-token.ts';

/** The hash of the home token that a file holds; undefined for another text. */
function homeTokenHash(text: string): Uint8Array | undefined {
  const token = parseToken(text.trim());
  return token?.kind === 'cluster' ? token.hash : undefined;
}

export interface HomeTokenDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly logger: Logger;
}

/**
 * Makes the token that a file holds the home token, which the controllers of home clusters present. The one before counts
 * for another hour. Throws an Error for another text, which repeats nothing of it, and DomainError store_unavailable.
 */
export async function keepHomeToken({ database, logger }: HomeTokenDeps, text: string): Promise<void> {
  const hash = homeTokenHash(text);
  if (hash === undefined) throw new Error('KEYFRAME_HOME_TOKEN_FILE holds no whole kf_cls_… token');
  if (await putHomeToken(database.pool, hash)) {
    logger.info('the home token is a new one; the one before, if any, works for another hour');
  }
}
