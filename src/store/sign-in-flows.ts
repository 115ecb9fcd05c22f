import { limits } from '../domain/limits.ts';
import { queryRows } from './database.ts';
import type { SignInFlowModel } from './generated/models.ts';
import type pg from 'pg';
import { sql } from './sql.ts';

/** What a flow is for. One of another method is not accepted in its place. */
export type FlowMethod = 'oidc' | 'passkey' | 'passkey_registration';

const methodMinutes: Readonly<Record<FlowMethod, number>> = {
  oidc: limits.signInFlowMinutes,
  passkey: limits.passkeyChallengeMinutes,
  passkey_registration: limits.passkeyChallengeMinutes,
};

/** A sign-in, or the registration of a passkey, that is under way in a browser. */
export interface SignInFlow extends KeptFlow {
  /** SHA-256 of the secret in the cookie of its browser. */
  readonly secretHash: Uint8Array;
}

/** What is kept of a flow under its secret. The session is known to work only if `link` is set. */
export type KeptFlow = Readonly<Pick<SignInFlowModel, 'returnTo' | 'fresh' | 'link' | 'sessionId'>>;

export async function insertSignInFlow(pool: pg.Pool, method: FlowMethod, flow: SignInFlow): Promise<void> {
  const { secretHash, returnTo, fresh, link, sessionId } = flow;
  // Flows that no browser finishes: each new one removes some.
  await queryRows(
    pool,
    sql`
      WITH ended AS (
      DELETE FROM sign_in_flow WHERE secret_hash IN (
        SELECT secret_hash FROM sign_in_flow WHERE expires_at < clock_timestamp() LIMIT 100 FOR UPDATE SKIP LOCKED)
    )
    INSERT INTO sign_in_flow (secret_hash, method, return_to, fresh, link, session_id, expires_at)
    VALUES (${secretHash}, ${method}, ${returnTo}, ${fresh}, ${link}, ${sessionId},
      clock_timestamp() + make_interval(mins => ${methodMinutes[method]}::int))`,
  );
}

/**
 * Takes a flow: of several requests with the same cookie only one gets it. Undefined if it is unknown, has expired or is for
 * another method.
 */
export async function takeSignInFlow(
  pool: pg.Pool,
  method: FlowMethod,
  secretHash: Uint8Array,
): Promise<KeptFlow | undefined> {
  type Row = KeptFlow & Pick<SignInFlowModel, 'method'> & { readonly isLive: boolean };
  const [row] = await queryRows<Row>(
    pool,
    sql`
      DELETE FROM sign_in_flow WHERE secret_hash = ${secretHash}
    RETURNING method, return_to AS "returnTo", fresh, link, session_id AS "sessionId",
      expires_at > clock_timestamp() AS "isLive"`,
  );
  return row?.isLive === true && row.method === method ? row : undefined;
}
