import { randomUUID } from 'node:crypto';
import type { DeleteTrustedIssuer, SetTrustedIssuer } from '../../../src/services/issuers/trusted-issuers.ts';
import type { InstanceAction } from '../../../src/domain/policy.ts';
import type { InstanceAccess } from '../../../src/services/access/access.ts';
import { createUser, type TestServices, type TestToken, type World } from './services.ts';

/** What instance admins do with a trusted issuer. */
export class IssuerCalls {
  readonly name = `issuer-${randomUUID()}`;
  readonly #services: TestServices;

  constructor(services: TestServices) {
    this.#services = services;
  }

  async set(input: Partial<SetTrustedIssuer> = {}): ReturnType<TestServices['trustedIssuers']['set']> {
    const content = { preset: 'none', iss: 'https://a.example', algorithms: ['RS256'] } as const;
    const source = input.keys === undefined ? { jwksUrl: 'https://a.example/keys' } : {};
    const access = await this.#instance('trusted_issuer.set');
    return await this.#services.trustedIssuers.set(access, this.name, { ...content, ...source, ...input });
  }

  async get(): ReturnType<TestServices['trustedIssuers']['get']> {
    return await this.#services.trustedIssuers.get(await this.#instance('trusted_issuer.list_all'), this.name);
  }

  async delete(input: DeleteTrustedIssuer = {}): Promise<void> {
    await this.#services.trustedIssuers.delete(await this.#instance('trusted_issuer.delete'), this.name, input);
  }

  /** A token of a world that the issuer proves, as a row. Returns the token. */
  async prove(world: World): Promise<TestToken> {
    const token = await world.serviceToken();
    await this.#services.database.pool.query(
      `INSERT INTO service_token_federation (credential_id, issuer_id, issuer_name, generation, audience, claims)
       SELECT c.id, i.id, i.name, i.generation, 'keyframe/' || c.id, '{"sub":["a"]}'
       FROM service_token_credential c, trusted_issuer i WHERE c.service_token_id = $1 AND i.name = $2`,
      [token.id, this.name],
    );
    return token;
  }

  async #instance<A extends InstanceAction>(action: A): Promise<InstanceAccess<A>> {
    const { caller } = await createUser(this.#services, { instanceAdmin: true });
    return await this.#services.access.instance(caller, action);
  }
}
