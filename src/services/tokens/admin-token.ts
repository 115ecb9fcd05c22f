import { randomUUID } from 'node:crypto';
import { generateToken } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { systemActor } from '../../domain/principal.ts';
import type { Logger } from '../../observability/logger.ts';
import { appendAudits } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { listOrganizationIdsOfUser } from '../../store/organizations.ts';
import { countLivePersonalTokens, insertPersonalToken } from '../../store/personal-tokens.ts';
import { findAdminToken, findInstanceAdmin, type RecoveringAdmin } from '../../store/recovery.ts';
import { type Transaction, inTransaction } from '../../store/transaction.ts';
import { systemRecords } from '../audit/system-record.ts';
import { TokenFile } from './token-file.ts';

export interface AdminTokenDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly logger: Logger;
}

export interface AdminTokenOptions {
  /** Where the token goes: a path in a folder that exists. */
  readonly tokenFile: string;
  /** E-mail address of the instance admin who gets it; null for the oldest instance admin. */
  readonly admin: string | null;
}

const actor = systemActor('keyframe-server admin-token');
const tokenName = 'admin-token';
const lifetimeMs = 24 * 60 * 60 * 1000;

/**
 * Gives an instance admin access if no other way is left: creates a personal token that ends after 24 hours, and writes
 * it to a file (mode 0600) and nowhere else. It revokes nothing. The audits of the instance and of each organization of
 * the user record it. Returns the e-mail address of the admin.
 *
 * A run that was interrupted before the file had its name is completed by the next run with this file. Throws DomainError
 * conflict for a file that exists and if there is no such admin, invalid_input for a file that cannot be written,
 * overloaded, store_unavailable.
 */
export async function createAdminToken(deps: AdminTokenDeps, options: AdminTokenOptions): Promise<string> {
  const file = new TokenFile(options.tokenFile);
  if (await file.exists()) {
    throw new DomainError('conflict', `${file.path} exists already and nothing was changed; name another file`);
  }
  const admin = await inTransaction(deps.database, async (tx) => {
    const begun = await findBegun(tx, file, options);
    return begun ?? (await create(tx, file, await findAdmin(tx, options)));
  });
  await file.publish();
  deps.logger.info(
    { tokenFile: file.path, admin: admin.email },
    'the token of an instance admin was made; it ends in 24 hours',
  );
  return admin.email;
}

/** Whose token an interrupted run committed, if it works. */
async function findBegun(
  tx: Transaction,
  file: TokenFile,
  { admin }: AdminTokenOptions,
): Promise<RecoveringAdmin | undefined> {
  const pending = await file.readPending();
  const found = pending === undefined ? undefined : await findAdminToken(tx, pending);
  return found?.tokenName === tokenName && (admin === null || found.email === admin) ? found : undefined;
}

async function findAdmin(tx: Transaction, { admin: email }: AdminTokenOptions): Promise<RecoveringAdmin> {
  const admin = await findInstanceAdmin(tx, email);
  if (admin !== undefined) return admin;
  throw new DomainError(
    'conflict',
    `${email ?? 'no user'} is an instance admin who is not disabled; nothing was changed`,
  );
}

async function create(tx: Transaction, file: TokenFile, admin: RecoveringAdmin): Promise<RecoveringAdmin> {
  const { now } = await countLivePersonalTokens(tx, admin.id);
  const id = randomUUID();
  const { token, hash: tokenHash } = generateToken('personal_token', id);
  const expiresAt = new Date(now.getTime() + lifetimeMs);
  const made = { creator: { actor, derivedAt: null }, delegators: [] };
  await insertPersonalToken(tx, { id, userId: admin.id, name: tokenName, tokenHash, expiresAt, ...made });
  await file.writePending(token);
  const target = {
    userId: admin.id,
    email: admin.email,
    personalTokenId: id,
    name: tokenName,
    expiresAt: expiresAt.toISOString(),
  };
  const organizationIds = await listOrganizationIdsOfUser(tx, admin.id);
  const record = systemRecords(actor);
  await appendAudits(
    tx,
    [null, ...organizationIds].map((organizationId) => record(organizationId, 'personal_token.create', target)),
  );
  return admin;
}
