import { randomUUID } from 'node:crypto';
import { randomText } from '../../crypto/random-text.ts';
import { generateToken, type ParsedToken } from '../../crypto/token.ts';
import { instanceIdAlphabet, instanceIdLength } from '../../domain/audience.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { systemActor } from '../../domain/principal.ts';
import type { Logger } from '../../observability/logger.ts';
import { appendAudits } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { notifyCluster, notifyServiceTokens, notifyUsers } from '../../store/notify.ts';
import { insertPersonalToken } from '../../store/personal-tokens.ts';
import * as store from '../../store/recovery.ts';
import { type Transaction, inTransaction } from '../../store/transaction.ts';
import { closeSignIn } from '../../store/sign-in-state.ts';
import { systemRecords } from '../audit/system-record.ts';
import { TokenFile } from './token-file.ts';

export interface RecoverDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly logger: Logger;
}

export interface RecoverOptions {
  /** Where the new token goes: a path in a folder that exists. */
  readonly tokenFile: string;
  /** E-mail address of the instance admin who gets it; null for the oldest instance admin. */
  readonly admin: string | null;
  /** Only what was made before is revoked; null for everything. */
  readonly before: Date | null;
  /** Whether the database is a copy that runs beside its original, so that the instance gets another id. */
  readonly newInstance: boolean;
}

/** What a recovery did. */
export interface Recovery {
  readonly serviceTokens: number;
  /** How many service tokens those belonged to. */
  readonly credentials: number;
  readonly users: number;
  /** How many users those belonged to. */
  readonly personalTokens: number;
  /** Sessions of browsers that were ended. */
  readonly sessions: number;
  /** Sign-in links that were ended. */
  readonly signInLinks: number;
  /** Passkeys that do not work until they are confirmed. */
  readonly passkeys: number;
  /** Invitations that were withdrawn. */
  readonly invitations: number;
  /** Trusted issuers that prove nothing until an instance admin enables them. */
  readonly trustedIssuers: number;
  /** Remote clusters that are disabled until an instance admin enables them. */
  readonly clusters: number;
  /** The id of the instance, if it was to get another one; null otherwise. */
  readonly newInstanceId: string | null;
  /** Whether sign-in, but for personal tokens, was open and is closed now. */
  readonly signInClosed: boolean;
  /** Keyless tokens, which stay: a revocation since the backup has to be made again. */
  readonly keylessTokens: number;
  /** Whose token is in the file. */
  readonly admin: string;
  /** Whether that token was made by this run, and not by an earlier one that this one repeats or ends. */
  readonly isNewToken: boolean;
}

/** How the instance admin gets in again. */
interface WayBack {
  readonly admin: store.RecoveringAdmin;
  readonly tokenId: string;
  /** Where the token was found; undefined for a new one. */
  readonly foundIn: 'file' | 'pending file' | undefined;
}

interface Revoked {
  readonly serviceTokens: readonly store.RevokedServiceToken[];
  readonly users: readonly store.RevokedUser[];
  /** The user of each session that was ended. */
  readonly sessionUserIds: readonly string[];
  /** How many sign-in links were ended. */
  readonly signInLinks: number;
  /** How many passkeys became unusable. */
  readonly passkeys: number;
  /** How many invitations were withdrawn. */
  readonly invitations: number;
  /** How many trusted issuers were disabled. */
  readonly trustedIssuers: number;
  /** The names of the remote clusters that were disabled. */
  readonly clusters: readonly string[];
  readonly newInstanceId: string | null;
  /** Whether sign-in was open. */
  readonly signInClosed: boolean;
  /** How many keyless tokens were kept. */
  readonly keylessTokens: number;
}

const actor = systemActor('keyframe-server recovered');
const tokenName = 'recovery';
// It waits for all that work with credentials, and many may have to be revoked.
const timeoutMs = 120_000;

/**
 * Makes a database that was restored from a backup safe to serve: revokes every credential that it holds, because it
 * brings back those that were revoked since, and it is not known which; and writes one new personal token of an
 * instance admin to a file (mode 0600) and nowhere else. Sign-in is closed but for personal tokens, until an instance
 * admin has checked who may sign in and opens it. All in one transaction, audited in every chain. It applies at
 * the very next request of servers that run meanwhile, whose changes wait for it.
 *
 * Trusted issuers prove nothing, and nothing is done for remote clusters, until an instance admin enables them. The home
 * token stays: each server writes it at its start. A copy that runs beside its original gets another id
 * of the instance, so that no JWT works in both.
 *
 * Keyless tokens stay as the backup has them: they rest on AccessGrants, which the restore did not change. Their number
 * is logged, because revocations of them since the backup are lost.
 *
 * A file that exists is refused, before anything is changed, unless it repeats a run: with `before`, and a token of an
 * earlier run in the file that was made since and works. A run that ended before it named the file is completed.
 *
 * Throws DomainError conflict for any other file that exists and if there is no such admin, invalid_input for a
 * moment in the future and a file that cannot be written, overloaded, store_unavailable.
 */
export async function recover(deps: RecoverDeps, options: RecoverOptions): Promise<Recovery> {
  const file = new TokenFile(options.tokenFile);
  const { wayBack, revoked } = await inTransaction(
    deps.database,
    async (tx) => {
      const now = await store.lockAllCredentials(tx);
      checkMoment(options, now);
      const known = await findWayBack(tx, file, options);
      const admin = known?.admin ?? (await findAdmin(tx, options));
      const found = await revokeAll(tx, options, known);
      const made = known ?? (await makeToken(tx, admin, file));
      await report(tx, options, { wayBack: made, revoked: found });
      return { wayBack: made, revoked: found };
    },
    timeoutMs,
  );
  if (wayBack.foundIn === 'file') await file.discardPending();
  else await file.publish();
  const recovery = summaryOf(wayBack, revoked);
  deps.logger.info(
    { ...recovery, tokenFile: options.tokenFile },
    'the credentials of the restored database are revoked',
  );
  if (recovery.keylessTokens > 0) {
    deps.logger.warn(
      { keylessTokens: recovery.keylessTokens },
      'keyless service tokens are not revoked: SecretSyncs read with them under their AccessGrants; check which were revoked since the backup, and revoke those again',
    );
  }
  return recovery;
}

function checkMoment({ before }: RecoverOptions, now: Date): void {
  if (before === null || before <= now) return;
  throw new DomainError(
    'invalid_input',
    `the moment is yet to come: the database says that it is ${now.toISOString()}`,
  );
}

/** The token of an earlier run that this one repeats or ends; undefined if a new one is to be made. */
async function findWayBack(tx: Transaction, file: TokenFile, options: RecoverOptions): Promise<WayBack | undefined> {
  if (!(await file.exists())) {
    const begun = await ownToken(tx, await file.readPending(), options);
    return begun && { ...begun, foundIn: 'pending file' };
  }
  const repeated = options.before === null ? undefined : await ownToken(tx, await file.read(), options);
  if (repeated !== undefined) return { ...repeated, foundIn: 'file' };
  throw new DomainError(
    'conflict',
    `${file.path} exists already and nothing was changed. After another restore, name another file. To repeat a run for the same restore, say with --before when that was`,
  );
}

/** The token that an earlier run may have made, if it is one and works. */
async function ownToken(
  tx: Transaction,
  token: ParsedToken | undefined,
  { admin, before }: RecoverOptions,
): Promise<Omit<WayBack, 'foundIn'> | undefined> {
  const found = token === undefined ? undefined : await store.findAdminToken(tx, token);
  if (found === undefined || found.tokenName !== tokenName) return undefined;
  if ((admin !== null && found.email !== admin) || (before !== null && found.createdAt < before)) return undefined;
  return { admin: { id: found.id, email: found.email }, tokenId: found.tokenId };
}

async function findAdmin(tx: Transaction, { admin: email }: RecoverOptions): Promise<store.RecoveringAdmin> {
  const admin = await store.findInstanceAdmin(tx, email);
  if (admin !== undefined) return admin;
  const who = email === null ? 'no user of this database' : `${email}, as this database has it,`;
  throw new DomainError('conflict', `${who} is an instance admin who is not disabled; nothing was changed`);
}

async function revokeAll(
  tx: Transaction,
  { before, newInstance }: RecoverOptions,
  known: WayBack | undefined,
): Promise<Revoked> {
  const newInstanceId = newInstance ? await store.renewInstance(tx, { id: newId(), before }) : null;
  const serviceTokens = await store.revokeServiceTokenCredentials(tx, before);
  const users = await store.revokeAllPersonalTokens(tx, { before, exceptId: known?.tokenId ?? null });
  const sessionUserIds = await store.endAllSessions(tx, before);
  await store.forgetSignIns(tx);
  const signInLinks = await store.endAllSignInLinks(tx, before);
  const passkeys = await store.makePasskeysUnusable(tx, before);
  const invitations = await store.withdrawAllInvitations(tx, before);
  const trustedIssuers = await store.disableTrustedIssuers(tx, before);
  const clusters = await store.disableRemoteClusters(tx, before);
  const signInClosed = await closeSignIn(tx, before);
  const keylessTokens = await store.countKeylessTokens(tx);
  const links = { signInLinks, passkeys, invitations };
  const ended = { serviceTokens, users, sessionUserIds, ...links, trustedIssuers, clusters };
  return { ...ended, newInstanceId, signInClosed, keylessTokens };
}

function newId(): string {
  return randomText(instanceIdAlphabet, instanceIdLength).reveal();
}

async function makeToken(tx: Transaction, admin: store.RecoveringAdmin, file: TokenFile): Promise<WayBack> {
  const tokenId = randomUUID();
  const { token, hash } = generateToken('personal_token', tokenId);
  const made = { creator: { actor, derivedAt: null }, delegators: [] };
  const record = { id: tokenId, userId: admin.id, name: tokenName, tokenHash: hash, expiresAt: null, ...made };
  await insertPersonalToken(tx, record);
  await file.writePending(token);
  return { admin, tokenId, foundIn: undefined };
}

/**
 * Notifies the listeners, and writes to the audit of every organization and of the instance; nothing if nothing was
 * done.
 */
async function report(
  tx: Transaction,
  { before }: RecoverOptions,
  { wayBack, revoked }: { readonly wayBack: WayBack; readonly revoked: Revoked },
): Promise<void> {
  const { serviceTokens, users, sessionUserIds, signInLinks, passkeys, invitations, signInClosed } = revoked;
  const { trustedIssuers, clusters, newInstanceId } = revoked;
  const isNew = wayBack.foundIn === undefined;
  const links = signInLinks + passkeys + invitations;
  const ended = serviceTokens.length + users.length + sessionUserIds.length + links + trustedIssuers + clusters.length;
  if (!isNew && ended === 0 && !signInClosed && newInstanceId === null) return;
  const userIds = new Set([...users.map(({ id }) => id), ...sessionUserIds, wayBack.admin.id]);
  await notifyServiceTokens(
    tx,
    serviceTokens.map(({ id, organizationId }) => ({ organizationId, serviceTokenId: id })),
  );
  await notifyUsers(tx, [...userIds]);
  for (const cluster of clusters) await notifyCluster(tx, { name: cluster, isHome: false }, 'disabled');
  const counted = { ...countsOf(revoked), before: before?.toISOString() ?? null };
  const record = systemRecords(actor);
  const made = isNew ? { userId: wayBack.admin.id, personalTokenId: wayBack.tokenId } : {};
  await appendAudits(tx, [
    record(null, 'instance.recover', { ...counted, ...made }),
    ...users.map(({ id: userId, email, tokens }) =>
      record(null, 'personal_token.revoke', { userId, email, revoked: tokens, reason: 'recovered' }),
    ),
    ...(await store.allOrganizationIds(tx)).map((id) => record(id, 'instance.recover', counted)),
    ...serviceTokens.map(({ id, organizationId, name, credentials }) =>
      record(organizationId, 'service_token.revoke', { serviceTokenId: id, name, credentials, reason: 'recovered' }),
    ),
  ]);
}

function countsOf({
  serviceTokens,
  users,
  sessionUserIds,
  signInLinks,
  passkeys,
  invitations,
  trustedIssuers,
  clusters,
  newInstanceId,
  signInClosed,
  keylessTokens,
}: Revoked): Omit<Recovery, 'admin' | 'isNewToken'> {
  return {
    serviceTokens: serviceTokens.length,
    credentials: serviceTokens.reduce((sum, token) => sum + token.credentials, 0),
    users: users.length,
    personalTokens: users.reduce((sum, { tokens }) => sum + tokens, 0),
    sessions: sessionUserIds.length,
    signInLinks,
    passkeys,
    invitations,
    trustedIssuers,
    clusters: clusters.length,
    newInstanceId,
    signInClosed,
    keylessTokens,
  };
}

function summaryOf(wayBack: WayBack, revoked: Revoked): Recovery {
  return { ...countsOf(revoked), admin: wayBack.admin.email, isNewToken: wayBack.foundIn === undefined };
}
