import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { generateToken } from '../../../src/crypto/token.ts';
import { audienceOf } from '../../../src/domain/audience.ts';
import { claimCluster } from '../../../src/store/clusters.ts';
import { putHomeToken } from '../../../src/store/home-token.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { JwtSigner, timesFor } from '../oidc/jwt-signer.ts';

/** Makes a new home token, past the services, and returns it. */
export async function newHomeToken(pool: pg.Pool): Promise<string> {
  const { token, hash } = generateToken('cluster', randomUUID());
  await inTransaction({ transactionPool: pool }, async (tx) => await putHomeToken(tx, hash));
  return token.reveal();
}

/** Claims a name for a home cluster, as the hello of its leader: then the home token proves it. */
export async function claimName(pool: pg.Pool, name: string, uid: string = name): Promise<void> {
  const program = { release: '1.0.0', protocol: { min: 1, max: 1 }, kinds: [] };
  await claimCluster(pool, name, { uid, isLeading: true, isRegistered: false, ...program });
}

/** A registered remote cluster, whose API server this is. */
export interface RemoteCluster {
  readonly name: string;
  readonly iss: string;
  readonly subject: string;
  readonly audience: string;
  readonly signer: JwtSigner;
  /** A token of the controller's ServiceAccount, good for an hour. `claims` replaces some of its claims. */
  token(claims?: Readonly<Record<string, unknown>>): string;
}

/** Registers a remote cluster, past the services. */
export async function registerCluster(
  pool: pg.Pool,
  name: string,
  { uid = null, url = null }: { readonly uid?: string | null; readonly url?: string | null } = {},
): Promise<RemoteCluster> {
  const signer = new JwtSigner('ES256');
  const iss = 'https://kubernetes.default.svc.cluster.local';
  const subject = 'system:serviceaccount:keyframe:keyframe-controller';
  const id = randomUUID();
  await pool.query('INSERT INTO served_cluster (name, is_home) VALUES ($1, false)', [name]);
  await pool.query(
    `INSERT INTO trusted_issuer (id, cluster, preset, iss, keys, jwks_url, algorithms, max_age_seconds)
     VALUES ($1, $2, 'kubernetes', $3, $4, $5, '{ES256}', 86400)`,
    [id, name, iss, url === null ? JSON.stringify({ keys: [signer.jwk] }) : null, url],
  );
  await pool.query('INSERT INTO cluster_registration (cluster, issuer_id, subject, uid) VALUES ($1, $2, $3, $4)', [
    name,
    id,
    subject,
    uid,
  ]);
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM instance');
  const audience = audienceOf(rows[0]?.id ?? '', { type: 'cluster', cluster: name });
  const token = (claims: Readonly<Record<string, unknown>> = {}): string =>
    signer.sign({ iss, sub: subject, aud: [audience], ...timesFor(3_600), jti: randomUUID(), ...claims });
  return { name, iss, subject, audience, signer, token };
}
