import { randomUUID } from 'node:crypto';
import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Agent, fetch } from 'undici';
import { Provider } from 'oidc-provider';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { createWorld, startServices, type TestServices, type World } from '../../support/api/services.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { FederationFixtures, type IssuerFixture } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';
import { KeyServer } from '../../support/oidc/key-server.ts';
import { silently } from '../../support/oidc/issuer.ts';

/** Issuers on loopback that sign what the platforms document, with their keys over TLS. */

const signer = new JwtSigner('RS256');
let database: TestDatabase;
let services: TestServices;
let world: World;
let fixtures: FederationFixtures;
let keyServer: KeyServer;

beforeAll(async () => {
  database = await createTestDatabase();
  services = await startServices(database.url, { trustedIssuerPrivateAddresses: true });
  world = await createWorld(services);
  fixtures = new FederationFixtures(services.database.pool);
  keyServer = await KeyServer.start();
  keyServer.keys = [new JwtSigner('RS256').jwk, { ...signer.jwk, x5t: 'AAAA', x5c: ['AAAA'] }];
});

afterAll(async () => {
  await keyServer[Symbol.asyncDispose]();
  await services.close();
  await database.drop();
});

type Required = Readonly<Record<string, readonly string[]>>;

async function audienceFor(issuer: IssuerFixture, required: Required): Promise<string> {
  const { id, caller } = await world.serviceToken();
  return await fixtures.federate({ id, credentialId: caller.principal.credentialId }, issuer, required);
}

async function outcome(jwt: string): Promise<string> {
  return await services.authentication.authenticateBearer(jwt).then(
    ({ type }) => type,
    (error: { fault?: string; code: string }) => error.fault ?? error.code,
  );
}

/** Of a job on GitHub that uses an environment (docs.github.com, "OpenID Connect reference"). */
const github = {
  iss: 'https://token.actions.githubusercontent.com',
  sub: 'repo:octo-org/octo-repo:environment:production',
  environment: 'production',
  ref: 'refs/heads/main',
  sha: '1f2d3c4b5a69788796a5b4c3d2e1f00112233445',
  repository: 'octo-org/octo-repo',
  repository_owner: 'octo-org',
  actor_id: '12',
  repository_visibility: 'private',
  repository_id: '74',
  repository_owner_id: '65',
  run_id: '30433642',
  run_number: '10',
  run_attempt: '2',
  runner_environment: 'github-hosted',
  actor: 'octocat',
  workflow: 'deploy',
  head_ref: '',
  base_ref: '',
  event_name: 'workflow_dispatch',
  ref_protected: 'true',
  ref_type: 'branch',
  job_workflow_ref: 'octo-org/octo-automation/.github/workflows/deploy.yml@refs/heads/main',
};

/** Of a job on GitLab (docs.gitlab.com, "ID token payload"). */
const gitlab = {
  iss: 'https://gitlab.example.com',
  sub: 'project_path:my-group/my-project:ref_type:branch:ref:main',
  namespace_id: '72',
  namespace_path: 'my-group',
  project_id: '20',
  project_path: 'my-group/my-project',
  user_id: '1',
  user_login: 'sample-user',
  user_email: 'sample-user@example.com',
  user_identities: [{ provider: 'github', extern_uid: '2435223452345' }],
  pipeline_id: '574',
  pipeline_source: 'push',
  job_id: '302',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  ref_protected: 'true',
  groups_direct: ['my-group/my-subgroup'],
  environment: 'production',
  environment_protected: 'true',
  deployment_tier: 'production',
  runner_id: 1,
  runner_environment: 'self-hosted',
  sha: '714a629c0b401fdce83e847fc9589983fc6f46bc',
  project_visibility: 'private',
};

/** Of a pod on Kubernetes (a projected ServiceAccount token). */
const kubernetes = {
  iss: 'https://kubernetes.default.svc.cluster.local',
  sub: 'system:serviceaccount:team-a:ci',
  'kubernetes.io': {
    namespace: 'team-a',
    node: { name: 'node-1', uid: randomUUID() },
    pod: { name: 'ci-0', uid: randomUUID() },
    serviceaccount: { name: 'ci', uid: randomUUID() },
  },
};

describe('a job of a platform', () => {
  test.each<[string, { iss: string }, Required, object, string]>([
    [
      'GitHub, by environment',
      github,
      { repository_id: ['74'], environment: ['production', 'staging'] },
      {},
      'service_token',
    ],
    [
      'GitHub, by ref and event',
      github,
      { repository_id: ['74'], ref: ['refs/heads/main'], event_name: ['push', 'workflow_dispatch'] },
      {},
      'service_token',
    ],
    [
      'GitHub, of a fork',
      github,
      { repository_id: ['74'], environment: ['production'] },
      { repository_id: '75' },
      'jwt_claims',
    ],
    [
      'GitHub, of another environment',
      github,
      { repository_id: ['74'], environment: ['production'] },
      { environment: 'preview' },
      'jwt_claims',
    ],
    [
      'GitHub, without an environment',
      github,
      { repository_id: ['74'], environment: ['production'] },
      { environment: undefined },
      'jwt_claims',
    ],
    [
      'GitHub, of a pull request',
      github,
      { repository_id: ['74'], ref: ['refs/heads/main'], event_name: ['push'] },
      { event_name: 'pull_request_target' },
      'jwt_claims',
    ],
    [
      'GitLab, by ref',
      gitlab,
      { project_id: ['20'], ref: ['main'], ref_type: ['branch'], ref_protected: ['true'] },
      {},
      'service_token',
    ],
    [
      'GitLab, by environment',
      gitlab,
      { project_id: ['20'], environment: ['production'], environment_protected: ['true'] },
      {},
      'service_token',
    ],
    [
      'GitLab, of a tag with the name of the branch',
      gitlab,
      { project_id: ['20'], ref: ['main'], ref_type: ['branch'], ref_protected: ['true'] },
      { ref_type: 'tag' },
      'jwt_claims',
    ],
    [
      'GitLab, of an unprotected branch',
      gitlab,
      { project_id: ['20'], ref: ['main'], ref_type: ['branch'], ref_protected: ['true'] },
      { ref_protected: 'false' },
      'jwt_claims',
    ],
    ['GitLab, by a claim that is a number', gitlab, { runner_id: ['1'] }, {}, 'jwt_claims'],
    ['Kubernetes, by its account', kubernetes, { sub: ['system:serviceaccount:team-a:ci'] }, {}, 'service_token'],
    [
      'Kubernetes, of another namespace',
      kubernetes,
      { sub: ['system:serviceaccount:team-a:ci'] },
      { sub: 'system:serviceaccount:team-b:ci' },
      'jwt_claims',
    ],
  ])('%s', async (_name, job, required, ...[changes, expected]) => {
    const { url, ca } = keyServer;
    const issuer = await fixtures.issuer({ iss: job.iss, url, ca, algorithms: ['RS256'] });
    const audience = await audienceFor(issuer, required);
    // Kubernetes writes a list of audiences, also of one.
    const aud = job === kubernetes ? [audience] : audience;
    const jwt = signer.sign({ ...job, aud, jti: randomUUID(), ...timesFor(300), ...changes }, { x5t: 'AAAA' });
    expect(await outcome(jwt)).toBe(expected);
  });
});

describe('a real issuer, oidc-provider,', () => {
  const authority = makeAuthority();
  const secret = randomUUID();
  let iss: string;
  let audience = '';
  let close: () => Promise<void>;
  let issuer: IssuerFixture;

  beforeAll(async () => {
    const { certificate: cert, key } = authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
    let serve: RequestListener = (_request, response) => response.end();
    const server = createServer({ cert, key }, (request, response) => serve(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    iss = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    serve = silently(() => new Provider(iss, configuration())).callback();
    issuer = await fixtures.issuer({
      iss,
      url: `${iss}/jwks`,
      ca: authority.certificate,
      algorithms: ['RS256', 'ES256'],
    });
    audience = await audienceFor(issuer, { sub: ['ci'] });
  });

  afterAll(() => close());

  function configuration(): object {
    const keys = [new JwtSigner('ES256'), signer].map(({ privateKey, jwk: { kid, alg, use } }) => ({
      ...privateKey.export({ format: 'jwk' }),
      kid,
      alg,
      use,
    }));
    const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
    return {
      jwks: { keys },
      clients: ['ci', 'other'].map((id) => ({ client_id: id, client_secret: secret, ...machine })),
      cookies: { keys: [secret] },
      ttl: { ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: () => ({
            scope: '',
            audience,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }),
        },
      },
    };
  }

  async function tokenOf(client: string): Promise<string> {
    const dispatcher = new Agent({ connect: { ca: authority.certificate } });
    const response = await fetch(`${iss}/token`, {
      method: 'POST',
      dispatcher,
      headers: { authorization: `Basic ${Buffer.from(`${client}:${secret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: 'urn:keyframe' }),
    });
    const body = (await response.json()) as { access_token?: string };
    await dispatcher.close();
    return body.access_token ?? JSON.stringify(body);
  }

  test('proves a service token to the client that it names', async () => {
    expect(await outcome(await tokenOf('ci'))).toBe('service_token');
  });

  test('proves it to no other client', async () => {
    expect(await outcome(await tokenOf('other'))).toBe('jwt_claims');
  });

  test('proves it at no other audience', async () => {
    const own = audience;
    audience = 'https://another.example';
    expect(await outcome(await tokenOf('ci'))).toBe('jwt_foreign_audience');
    audience = own;
  });
});
