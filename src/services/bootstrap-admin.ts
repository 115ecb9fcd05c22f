import { randomUUID } from 'node:crypto';
import { link, lstat, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generateToken, parseToken } from '../crypto/token.ts';
import { DomainError } from '../domain/domain-error.ts';
import type { Plaintext } from '../domain/plaintext.ts';
import type { Actor } from '../domain/principal.ts';
import type { Logger } from '../lib/logger.ts';
import { appendAudit } from '../store/audit.ts';
import type { Database } from '../store/database.ts';
import { inTransaction, type PrismaTransaction } from '../store/transaction.ts';
import { hasPersonalToken, hasUsers, insertInstanceAdmin, lockBootstrap } from '../store/users.ts';

export interface BootstrapAdminDeps {
  readonly database: Pick<Database, 'prisma'>;
  readonly logger: Logger;
}

export interface BootstrapAdminOptions {
  readonly email: string;
  /** Where the token goes: a path in a folder that exists, and where nothing is yet. */
  readonly tokenFile: string;
}

const system: Actor = { type: 'system', id: '00000000-0000-0000-0000-000000000000', name: 'keyframe' };
const tokenName = 'bootstrap';

/**
 * Gives an instance without users its first: an instance admin, whose personal token is written to `tokenFile` (mode
 * 0600) and nowhere else. An instance with users is left as it is; of replicas that start at once, one makes the
 * admin. Answers whether this call did.
 *
 * The token is written and flushed to `<tokenFile>.pending` before the admin is committed, and gets its name after
 * that: a crash in between loses neither, the next start ends what was begun. Throws DomainError conflict when
 * something is in the file's place, invalid_input when the file cannot be written, store_unavailable.
 */
export async function bootstrapAdmin(deps: BootstrapAdminDeps, options: BootstrapAdminOptions): Promise<boolean> {
  const { email, tokenFile } = options;
  const pendingFile = `${tokenFile}.pending`;
  const outcome = await inTransaction(deps.database, async (tx) => {
    await lockBootstrap(tx);
    if (await hasUsers(tx)) return (await isCommitted(tx, pendingFile)) ? 'begun' : 'none';
    await refuseExisting(tokenFile);
    await createAdmin(tx, email, pendingFile);
    return 'created';
  });
  if (outcome === 'none') await rm(pendingFile, { force: true });
  else await publish(pendingFile, tokenFile);
  if (outcome === 'created') deps.logger.info({ tokenFile }, 'the first user was made; its token is in the file');
  return outcome === 'created';
}

async function createAdmin(tx: PrismaTransaction, email: string, pendingFile: string): Promise<void> {
  const [userId, credentialId] = [randomUUID(), randomUUID()];
  const { token, hash } = generateToken('personal_token', credentialId);
  await writeToken(pendingFile, token);
  const address = email.trim().toLowerCase();
  await insertInstanceAdmin(tx, { userId, email: address, credentialId, tokenName, tokenHash: hash });
  await appendAudit(tx, {
    organizationId: null,
    actor: system,
    action: 'user.bootstrap',
    target: { userId, email: address, credentialId },
    outcome: 'success',
    requestId: randomUUID(),
    sourceAddress: null,
    label: null,
  });
}

/** Whether an earlier start committed the token of a pending file and ended before it gave the file its name. */
async function isCommitted(tx: PrismaTransaction, pendingFile: string): Promise<boolean> {
  const text = await readFile(pendingFile, 'utf8').catch(() => '');
  const token = parseToken(text.trim());
  return token?.kind === 'personal_token' && (await hasPersonalToken(tx, token.credentialId, token.hash));
}

async function refuseExisting(tokenFile: string): Promise<void> {
  const found = await lstat(tokenFile).catch(() => undefined);
  if (found !== undefined) throw occupied(tokenFile);
}

/** Writes the token where it outlives a crash of the machine, readable by its owner alone. */
async function writeToken(pendingFile: string, token: Plaintext): Promise<void> {
  try {
    // One left by a start that ended before its commit: there is no user, so its token opens nothing.
    await rm(pendingFile, { force: true });
    const file = await open(pendingFile, 'wx', 0o600);
    try {
      await file.writeFile(`${token.reveal()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await syncFolder(pendingFile);
  } catch (error) {
    throw new DomainError(
      'invalid_input',
      `the admin's token cannot be written to ${pendingFile} (${codeOf(error)}): its folder must exist and be writable`,
      { cause: error },
    );
  }
}

/** Gives the token's file its name, never over another file. Two replicas on one folder may both try. */
async function publish(pendingFile: string, tokenFile: string): Promise<void> {
  try {
    await link(pendingFile, tokenFile);
  } catch (error) {
    if (!(await isPublished(pendingFile, tokenFile))) {
      throw new DomainError(
        'conflict',
        `the admin's token is in ${pendingFile} and could not be moved to ${tokenFile} (${codeOf(error)}): move it by hand`,
        { cause: error },
      );
    }
  }
  await rm(pendingFile, { force: true });
  await syncFolder(tokenFile);
}

async function isPublished(pendingFile: string, tokenFile: string): Promise<boolean> {
  const [pending, token] = await Promise.all(
    [pendingFile, tokenFile].map((path) => lstat(path).catch(() => undefined)),
  );
  // Another replica is done when the pending file is gone, and nearly so when both names are one file.
  return token !== undefined && (pending === undefined || pending.ino === token.ino);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function occupied(tokenFile: string): DomainError {
  return new DomainError(
    'conflict',
    `${tokenFile} exists already and is not overwritten: the database has no user yet, so move that file away or name another one`,
  );
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}
