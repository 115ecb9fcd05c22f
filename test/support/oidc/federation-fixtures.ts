import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { audienceOf } from '../../../src/domain/audience.ts';
import { insertIssuer, type NewTestIssuer } from '../api/trusted-issuers.ts';
import { type JwtSigner, timesFor } from './jwt-signer.ts';

export interface IssuerFixture {
  readonly id: string;
  readonly iss: string;
}

interface FederatedToken {
  readonly id: string;
  readonly credentialId: string;
}

/** What JWTs of a test say, besides their audience and times. */
const testClaims = { sub: 'repo:acme/shop', repository_id: '42', environment: 'production' };

/** Puts trusted issuers and federations into a database, past the services, for tests of what authenticates JWTs. */
export class FederationFixtures {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async issuer(given: NewTestIssuer = {}): Promise<IssuerFixture> {
    return await insertIssuer({ pool: this.#pool }, given);
  }

  /** Lets JWTs of an issuer prove a service token, besides its value. Returns their audience. */
  async federate(
    { id, credentialId }: FederatedToken,
    issuer: IssuerFixture,
    claims: Readonly<Record<string, readonly string[]>> = { repository_id: ['42'], environment: ['production'] },
  ): Promise<string> {
    const { rows } = await this.#pool.query<{ id: string }>('SELECT id FROM instance');
    const audience = audienceOf(rows[0]?.id ?? '', { type: 'service_token', id });
    await this.#pool.query(
      `INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims)
       VALUES ($1, $2, 'issuer', (SELECT generation FROM trusted_issuer WHERE id = $2), $3, $4)`,
      [credentialId, issuer.id, audience, JSON.stringify(claims)],
    );
    return audience;
  }

  /** Changes columns of an issuer. */
  async change({ id }: IssuerFixture, assignments: string): Promise<void> {
    await this.#pool.query(`UPDATE trusted_issuer SET ${assignments} WHERE id = $1`, [id]);
  }
}

/** A JWT that an issuer signs for an audience, good for five minutes. */
export function jwtFor(
  signer: JwtSigner,
  { iss }: Pick<IssuerFixture, 'iss'>,
  aud: string | readonly string[],
  claims: Readonly<Record<string, unknown>> = {},
): string {
  return signer.sign({ iss, aud, ...testClaims, ...timesFor(300), jti: randomUUID(), ...claims });
}
