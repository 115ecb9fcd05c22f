import { randomBytes, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { generateToken } from '../../../src/crypto/token.ts';
import type { TokenPermission } from '../../../src/domain/grants.ts';
import type { Caller, BearerPrincipal, ServiceTokenPrincipal, UserPrincipal } from '../../../src/domain/principal.ts';

export interface EnvironmentFixture {
  readonly organizationId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly revisionId: string;
}

export interface TokenFixture<P extends BearerPrincipal = BearerPrincipal> {
  /** The whole token. */
  readonly token: string;
  readonly credentialId: string;
  readonly principal: P;
}

interface ServiceTokenOptions {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
  readonly permission?: TokenPermission;
  /** Seconds from now, by the database's clock; negative for the past. */
  readonly expiresInSeconds?: number;
}

/** Puts rows into a migrated database, past the services, for tests of what lies below them. */
export class StoreFixtures {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  /** An organization, a project and an environment without secrets. */
  async environment(): Promise<EnvironmentFixture> {
    const [organizationId, projectId, environmentId, revisionId] = Array.from({ length: 4 }, () => randomUUID());
    await this.#pool.query('INSERT INTO organization (id, slug, display_name) VALUES ($1, $2, $2)', [
      organizationId,
      slug(),
    ]);
    await this.#pool.query('INSERT INTO project (id, organization_id, slug, display_name) VALUES ($1, $2, $3, $3)', [
      projectId,
      organizationId,
      slug(),
    ]);
    await this.#pool.query(
      'INSERT INTO environment (id, project_id, slug, display_name, revision_id) VALUES ($1, $2, $3, $3, $4)',
      [environmentId, projectId, slug(), revisionId],
    );
    return { organizationId, projectId, environmentId, revisionId } as EnvironmentFixture;
  }

  /** A user with one personal token. */
  async personalToken(options: { readonly expiresInSeconds?: number } = {}): Promise<TokenFixture<UserPrincipal>> {
    const [userId, credentialId] = [randomUUID(), randomUUID()];
    const email = `${slug()}@example.test`;
    const { token, hash } = generateToken('personal_token', credentialId);
    await this.#pool.query('INSERT INTO app_user (id, email) VALUES ($1, $2)', [userId, email]);
    await this.#pool.query(
      `INSERT INTO personal_token
         (id, user_id, name, token_hash, expires_at, created_by_type, created_by_id, created_by_name, delegators)
       VALUES ($1, $2, 'test', $3, now() + make_interval(secs => $4), 'user', $2, $5, '{}')`,
      [credentialId, userId, hash, options.expiresInSeconds ?? null, email],
    );
    const expiresAt = await this.#expiry('personal_token', credentialId);
    const actor = { type: 'user', id: userId, name: email } as const;
    const principal = { ...actor, instanceAdmin: false, credentialId, tokenCreator: null, expiresAt };
    return { token: token.reveal(), credentialId, principal };
  }

  /** A service token with one credential, of the scope that the given ids say. */
  async serviceToken(options: ServiceTokenOptions): Promise<TokenFixture<ServiceTokenPrincipal>> {
    const { organizationId, projectId = null, environmentId = null, permission = 'read' } = options;
    const [id, credentialId] = [randomUUID(), randomUUID()];
    const { token, hash } = generateToken('service_token', credentialId);
    const scope = environmentId !== null ? 'environment' : projectId !== null ? 'project' : 'organization';
    await this.#pool.query(
      `INSERT INTO service_token (id, organization_id, name, scope, project_id, environment_id, permission,
         created_by_id, created_by_type, created_by_name)
       VALUES ($1, $2, 'robot', $3, $4, $5, $6, $7, 'user', 'someone')`,
      [id, organizationId, scope, projectId, environmentId, permission, randomUUID()],
    );
    await this.#pool.query(
      `INSERT INTO service_token_credential (id, service_token_id, serial, token_hash, expires_at)
       VALUES ($1, $2, 1, $3, now() + make_interval(secs => $4))`,
      [credentialId, id, hash, options.expiresInSeconds ?? null],
    );
    const expiresAt = await this.#expiry('service_token_credential', credentialId);
    const scoped = { scope, organizationId, projectId, environmentId, permission } as const;
    const principal = { type: 'service_token', id, name: 'robot', credentialId, expiresAt, ...scoped } as const;
    return { token: token.reveal(), credentialId, principal };
  }

  async #expiry(table: string, id: string): Promise<Date | null> {
    const { rows } = await this.#pool.query<{ expires_at: Date | null }>(
      `SELECT expires_at FROM ${table} WHERE id = $1`,
      [id],
    );
    return rows[0]?.expires_at ?? null;
  }
}

/** A call by a principal, from nowhere in particular. */
export function callerOf(principal: BearerPrincipal): Caller {
  return { principal, requestId: randomUUID(), sourceAddress: '192.0.2.1' };
}

function slug(): string {
  return `t${randomBytes(6).toString('hex')}`;
}
