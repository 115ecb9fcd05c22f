import type pg from 'pg';
import type { NewTokenCreator } from '../domain/impersonation.ts';
import type { TokenCreator } from '../domain/principal.ts';
import { creatorFields, tokenCreatorColumns, tokenCreatorOf, type TokenCreatorRow } from './credentials.ts';
import { queryRows } from './database.ts';
import type { PasskeyModel } from './generated/models.ts';
import { newest, readModels } from './models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  id: true,
  name: true,
  /** The host for which it was registered. */
  rpId: true,
  /** Whether it is copied to other devices of the user. */
  backedUp: true,
  createdAt: true,
  /** Null if the user has not signed in with it. */
  lastUsedAt: true,
  /** Since a restore from a backup, until it is confirmed; null for one that works. */
  unusableSince: true,
} as const;

export interface PasskeyRecord extends Readonly<Pick<PasskeyModel, keyof typeof fields>> {
  /** With whose token or link the user registered it, if that was another person's; null if the user did. */
  readonly creator: TokenCreator | null;
}

type PasskeyRow = Readonly<Pick<PasskeyModel, keyof typeof fields | 'userId'>> & TokenCreatorRow;

const columns = `id, name, rp_id AS "rpId", backed_up AS "backedUp", created_at AS "createdAt", last_used_at AS "lastUsedAt",
    unusable_since AS "unusableSince", user_id AS "userId", ${tokenCreatorColumns('passkey')}`;

/** The passkeys of a user, newest first. */
export async function listPasskeys(pool: pg.Pool, userId: string): Promise<PasskeyRecord[]> {
  const select = { ...fields, userId: true, ...creatorFields } as const;
  const rows = await readModels(pool, ({ passkey }) => passkey.findMany({ where: { userId }, select, ...newest() }));
  return rows.map(recordOf);
}

function recordOf(row: PasskeyRow): PasskeyRecord {
  const { id, name, rpId, backedUp, createdAt, lastUsedAt, unusableSince, userId } = row;
  return { id, name, rpId, backedUp, createdAt, lastUsedAt, unusableSince, creator: tokenCreatorOf(row, userId) };
}

/** What a browser needs to recognize a passkey. */
export type KnownCredential = Readonly<Pick<PasskeyModel, 'credentialId' | 'transports'>>;

/** The passkeys of a user for a host, so that an authenticator registers no second one. */
export async function knownCredentials(pool: pg.Pool, userId: string, rpId: string): Promise<KnownCredential[]> {
  const select = { credentialId: true, transports: true } as const;
  return readModels(pool, ({ passkey }) => passkey.findMany({ where: { userId, rpId }, select }));
}

/** What proves a sign-in with a passkey. */
export type StoredPasskey = Readonly<Pick<PasskeyModel, 'id' | 'userId' | 'publicKey'>>;

/** The passkey with the id that its authenticator gave it. Lock its user before relying on more than its key. */
export async function findPasskey(pool: pg.Pool, credentialId: Uint8Array): Promise<StoredPasskey | undefined> {
  const where = { credentialId: Uint8Array.from(credentialId) };
  const select = { id: true, userId: true, publicKey: true } as const;
  return (await readModels(pool, ({ passkey }) => passkey.findUnique({ where, select }))) ?? undefined;
}

/** How many passkeys a user has. Lock the user before. */
export async function countPasskeys(tx: Transaction, userId: string): Promise<number> {
  return tx.run`SELECT FROM passkey WHERE user_id = ${userId}::uuid`;
}

export interface NewPasskey extends StoredPasskey {
  readonly credentialId: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly rpId: string;
  readonly name: string;
  readonly backedUp: boolean;
  /** With whose token the user registers it. */
  readonly creator: NewTokenCreator;
  readonly delegators: readonly string[];
}

/** Inserts a passkey; undefined if its authenticator is registered already, maybe for another user. Lock the user before. */
export async function insertPasskey(tx: Transaction, passkey: NewPasskey): Promise<PasskeyRecord | undefined> {
  const { id, userId, credentialId, publicKey, counter, transports, rpId, name, backedUp, delegators } = passkey;
  const { actor, derivedAt } = passkey.creator;
  const row = await tx.row<PasskeyRow>`
    INSERT INTO passkey (id, user_id, credential_id, public_key, counter, transports, rp_id, name, backed_up,
      created_by_type, created_by_id, created_by_name, derived_at, delegators)
    VALUES (${id}::uuid, ${userId}::uuid, ${credentialId}, ${publicKey}, ${counter}::float8::bigint,
      ${[...transports]}::text[], ${rpId}, ${name}, ${backedUp}::boolean, ${actor?.type ?? null}::actor_type,
      ${actor?.id ?? null}::uuid, ${actor?.name ?? null},
      CASE WHEN ${derivedAt === 'now'}::boolean THEN clock_timestamp()
        ELSE ${derivedAt === 'now' ? null : derivedAt}::timestamptz END, ${[...delegators]}::uuid[])
    ON CONFLICT (credential_id) DO NOTHING
    RETURNING ${raw(columns)}`;
  return row && recordOf(row);
}

/** Whether a user still has a passkey. Lock the user before. */
export async function hasPasskey(
  tx: Transaction,
  { id, userId }: Pick<StoredPasskey, 'id' | 'userId'>,
): Promise<boolean> {
  return (await tx.run`SELECT FROM passkey WHERE id = ${id}::uuid AND user_id = ${userId}::uuid`) > 0;
}

/** What a passkey is at a sign-in. `counted`: whether its counter rose, or it does not count. */
export interface UsedPasskey extends Readonly<Pick<PasskeyModel, 'unusableSince'>> {
  readonly counted: boolean;
}

/**
 * Notes a sign-in with a passkey, whose authenticator reports a counter. Changes nothing unless the passkey is usable and
 * `counted`. Lock its user before, and insert the session before, because a recovery locks the tables in this order.
 */
export async function usePasskey(
  tx: Transaction,
  id: string,
  { counter, backedUp }: { readonly counter: number; readonly backedUp: boolean },
): Promise<UsedPasskey> {
  const used = await tx.row<UsedPasskey>`
    WITH present AS (
      SELECT id, unusable_since,
        (counter = 0 AND ${counter}::float8 = 0) OR counter < ${counter}::float8 AS counted
      FROM passkey WHERE id = ${id}::uuid FOR NO KEY UPDATE
    ), used AS (
      UPDATE passkey k
      SET counter = ${counter}::float8::bigint, backed_up = ${backedUp}::boolean, last_used_at = clock_timestamp()
      FROM present p WHERE k.id = p.id AND p.counted AND p.unusable_since IS NULL
    )
    SELECT unusable_since AS "unusableSince", counted FROM present`;
  if (used === undefined) throw new Error('a passkey is not removed while its user is locked');
  return used;
}

/** Removes a passkey of a user and returns it; undefined if the user has none with this id. Lock the user before. */
export async function deletePasskey(
  tx: Transaction,
  userId: string,
  id: string,
): Promise<Pick<PasskeyRecord, 'name'> | undefined> {
  return tx.row<Pick<PasskeyRecord, 'name'>>`
    DELETE FROM passkey WHERE id = ${id}::uuid AND user_id = ${userId}::uuid RETURNING name`;
}

/** Removes all passkeys of a user, and returns how many. Lock the user and end the sessions before. */
export async function deletePasskeys(tx: Transaction, userId: string): Promise<number> {
  return tx.run`DELETE FROM passkey WHERE user_id = ${userId}::uuid`;
}

/** Ends the sessions that began with a passkey, and returns how many. Lock the user before. */
export async function endSessionsOfPasskey(tx: Transaction, userId: string, passkeyId: string): Promise<number> {
  return tx.run`
    UPDATE session SET ended_at = clock_timestamp()
    WHERE user_id = ${userId}::uuid AND passkey_id = ${passkeyId}::uuid AND ended_at IS NULL AND expires_at > clock_timestamp()`;
}

/** Whether a session began with a passkey. */
export async function isSessionOfPasskey(tx: Transaction, sessionId: string, passkeyId: string): Promise<boolean> {
  const found = await tx.run`SELECT FROM session WHERE id = ${sessionId}::uuid AND passkey_id = ${passkeyId}::uuid`;
  return found > 0;
}

/** A passkey that works again, or that did already. */
export interface ConfirmedPasskey extends Readonly<Pick<PasskeyModel, 'name'>> {
  readonly wasUnusable: boolean;
}

/** Makes a passkey of a user usable again; undefined if the user has none with this id. Lock the user before. */
export async function confirmPasskey(
  tx: Transaction,
  userId: string,
  id: string,
): Promise<ConfirmedPasskey | undefined> {
  return tx.row<ConfirmedPasskey>`
    WITH present AS (
      SELECT id, name, unusable_since IS NOT NULL AS "wasUnusable" FROM passkey
      WHERE id = ${id}::uuid AND user_id = ${userId}::uuid FOR NO KEY UPDATE
    ), confirmed AS (
      UPDATE passkey k SET unusable_since = NULL FROM present p WHERE k.id = p.id
    )
    SELECT name, "wasUnusable" FROM present`;
}

/** How many passkeys browsers do not offer at this host, and how many identities this server's issuer does not have. */
export interface StrandedSignIns {
  readonly passkeys: number;
  readonly identities: number;
}

/** Null for no host or no issuer. */
export async function countStrandedSignIns(
  pool: pg.Pool,
  { rpId, issuer }: { readonly rpId: string | null; readonly issuer: string | null },
): Promise<StrandedSignIns> {
  const [row] = await queryRows<StrandedSignIns>(
    pool,
    sql`
      SELECT (SELECT count(*)::int FROM passkey WHERE rp_id IS DISTINCT FROM ${rpId}) AS passkeys,
      (SELECT count(*)::int FROM identity WHERE issuer IS DISTINCT FROM ${issuer}) AS identities`,
  );
  if (row === undefined) throw new Error('a SELECT without FROM returned no row');
  return row;
}
