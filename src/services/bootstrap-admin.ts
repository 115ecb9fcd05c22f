import { randomUUID } from 'node:crypto';
import { link, lstat, open, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { generateToken, type ParsedToken, parseToken } from '../crypto/token.ts';
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
  /** Where the token is: a file that holds one already, or a path in a folder that exists, where one is to be written. */
  readonly tokenFile: string;
}

const system: Actor = { type: 'system', id: '00000000-0000-0000-0000-000000000000', name: 'keyframe' };
const tokenName = 'bootstrap';

/**
 * Gives an instance without users its first: an instance admin. The personal token is the one that `tokenFile` holds, as
 * a mounted Secret does; where there is no such file, a new one is written to it (mode 0600) and nowhere else. An
 * instance with users is left as it is, whatever the file holds; of replicas that start at once, one makes the admin.
 * Answers whether this call did.
 *
 * A new token is written and flushed to `<tokenFile>.pending` before the admin is committed, and gets its name after
 * that: a crash in between loses neither, the next start ends what was begun. Throws DomainError invalid_input when the
 * file holds no personal token or cannot be read or written, conflict when its place was taken meanwhile,
 * store_unavailable.
 */
export async function bootstrapAdmin(deps: BootstrapAdminDeps, options: BootstrapAdminOptions): Promise<boolean> {
  const { email, tokenFile } = options;
  const pendingFile = `${tokenFile}.pending`;
  const outcome = await inTransaction(deps.database, async (tx) => {
    await lockBootstrap(tx);
    if (await hasUsers(tx)) return (await isCommitted(tx, pendingFile)) ? 'begun' : 'none';
    const given = await givenToken(tokenFile);
    await createAdmin(tx, email, given ?? (await newToken(pendingFile)));
    return given === undefined ? 'created' : 'adopted';
  });
  // Where the token was given, the folder may be one that nobody can write to, and nothing was written there.
  if (outcome === 'none') await rm(pendingFile, { force: true });
  else if (outcome !== 'adopted') await publish(pendingFile, tokenFile);
  const isNew = outcome === 'created' || outcome === 'adopted';
  if (isNew) deps.logger.info({ tokenFile }, 'the first user was made; its token is in the file');
  return isNew;
}

type TokenRecord = Pick<ParsedToken, 'credentialId' | 'hash'>;

/** What is stored of the token in a file; undefined where there is no such file. */
async function givenToken(tokenFile: string): Promise<TokenRecord | undefined> {
  const text = await readFile(tokenFile, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new DomainError('invalid_input', `${tokenFile} cannot be read (${codeOf(error)})`, { cause: error });
  });
  if (text === undefined) return undefined;
  const token = parseToken(text.trim());
  if (token?.kind === 'personal_token') return token;
  throw new DomainError(
    'invalid_input',
    `${tokenFile} holds no personal token (kf_pat_…) and is not overwritten: the database has no user yet, so put the token of its first one there whole, or move that file away and it will be made`,
  );
}

async function newToken(pendingFile: string): Promise<TokenRecord> {
  const credentialId = randomUUID();
  const { token, hash } = generateToken('personal_token', credentialId);
  await writeToken(pendingFile, token);
  return { credentialId, hash };
}

async function createAdmin(tx: PrismaTransaction, email: string, { credentialId, hash }: TokenRecord): Promise<void> {
  const userId = randomUUID();
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

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : 'unknown error';
}
