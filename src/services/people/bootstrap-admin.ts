import { randomUUID } from 'node:crypto';
import { generateToken, type ParsedToken } from '../../crypto/token.ts';
import { systemActor } from '../../domain/principal.ts';
import type { Logger } from '../../observability/logger.ts';
import { appendAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { inTransaction, type Transaction } from '../../store/transaction.ts';
import { hasPersonalToken, hasUsers, insertInstanceAdmin, lockBootstrap } from '../../store/users.ts';
import { systemRecords } from '../audit/system-record.ts';
import { TokenFile } from '../tokens/token-file.ts';

export interface BootstrapAdminDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly logger: Logger;
}

export interface BootstrapAdminOptions {
  readonly email: string;
  /**
   * Where the token is: a file that holds one already, or a path in a folder that exists, where one is to be written.
   */
  readonly tokenFile: string;
}

const system = systemActor('keyframe');
const tokenName = 'bootstrap';

/**
 * Creates the first user of an instance without users: an instance admin. The personal token is the one that
 * `tokenFile` holds, as a mounted Secret does; if there is no such file, a new one is written to it (mode 0600) and
 * nowhere else. An instance with users is not changed, whatever the file holds. Of replicas that start at once, one
 * makes the admin. Returns whether this call did.
 *
 * A crash loses neither the admin nor a new token (`TokenFile`): the next start ends what was begun. Throws DomainError
 * invalid_input when the file holds no personal token or cannot be read or written, conflict when its place was taken
 * meanwhile, store_unavailable.
 */
export async function bootstrapAdmin(deps: BootstrapAdminDeps, options: BootstrapAdminOptions): Promise<boolean> {
  const { email, tokenFile } = options;
  const file = new TokenFile(tokenFile);
  const outcome = await inTransaction(deps.database, async (tx) => {
    await lockBootstrap(tx);
    if (await hasUsers(tx)) return (await isCommitted(tx, file)) ? 'begun' : 'none';
    const given = await file.given();
    await createAdmin(tx, email, given ?? (await newToken(file)));
    return given === undefined ? 'created' : 'adopted';
  });
  // If the token was given, the folder may be read-only, and nothing was written there.
  if (outcome === 'none') await file.discardPending();
  else if (outcome !== 'adopted') await file.publish();
  const isNew = outcome === 'created' || outcome === 'adopted';
  if (isNew) deps.logger.info({ tokenFile }, 'the first user was made; its token is in the file');
  return isNew;
}

type TokenRecord = Pick<ParsedToken, 'credentialId' | 'hash'>;

async function newToken(file: TokenFile): Promise<TokenRecord> {
  const credentialId = randomUUID();
  const { token, hash } = generateToken('personal_token', credentialId);
  // In place of one left by a start that ended before its commit: there is no user, so that token does not work.
  await file.writePending(token);
  return { credentialId, hash };
}

async function createAdmin(tx: Transaction, email: string, { credentialId, hash }: TokenRecord): Promise<void> {
  const userId = randomUUID();
  const address = email.trim().toLowerCase();
  await insertInstanceAdmin(tx, { userId, email: address, credentialId, tokenName, tokenHash: hash, creator: system });
  await appendAudit(tx, systemRecords(system)(null, 'user.bootstrap', { userId, email: address, credentialId }));
}

/** Whether an earlier start committed the token of a pending file and ended before it gave the file its name. */
async function isCommitted(tx: Transaction, file: TokenFile): Promise<boolean> {
  const token = await file.readPending();
  return token !== undefined && (await hasPersonalToken(tx, token.credentialId, token.hash));
}
