import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type HttpAnswer, startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';

const limits = { requests: 0, failedAuthentications: 3, trafficBytes: 0 };
const signer = new JwtSigner('ES256');
let api: TestApi;
let world: World;
let issuer: IssuerFixture;
let audience: string;
let path: string;

beforeAll(async () => {
  // The peer is trusted, so that each test can come from its own address.
  api = await startTestApi({ rateLimits: limits, trustedProxies: ['127.0.0.1'] });
  world = await createWorld(api.services);
  const fixtures = new FederationFixtures(api.services.database.pool);
  issuer = await fixtures.issuer({ signers: [signer] });
  const { id, caller } = await world.serviceToken();
  audience = await fixtures.federate({ id, credentialId: caller.principal.credentialId }, issuer);
  path = `/service-tokens/${world.slugs.organization}/${id}/explain`;
});
afterAll(() => api.close());

function explain(jwt: string, address: string): Promise<HttpAnswer> {
  return api.client(world.admin.token).send('POST', path, { jwt }, { 'x-forwarded-for': address });
}

test('explained JWTs that prove nothing are no guesses, because only those for the token are looked up', async () => {
  const address = '192.0.2.1';
  const jwts = ['x', jwtFor(signer, issuer, audience, { environment: 'test' })];
  for (let count = 0; count < 2 * limits.failedAuthentications; count += 1) {
    for (const jwt of jwts) expect((await explain(jwt, address)).status).toBe(200);
  }
  const { status } = await api
    .client({ reveal: () => 'unknown' })
    .send('GET', '/me', undefined, { 'x-forwarded-for': address });
  expect(status).toBe(401);
});
