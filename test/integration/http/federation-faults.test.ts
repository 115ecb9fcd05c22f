import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { recover, type RecoverOptions } from '../../../src/services/tokens/recovery.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type HttpClient, startTestApi, type TestApi } from '../../support/api/http.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { createWorld, newRootKey, startServices, type TestServices, type World } from '../../support/api/services.ts';
import { ruleFor } from '../../support/api/token-resource.ts';
import { putClusterIssuer } from '../../support/database/cluster-issuer.ts';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { readPage } from '../../support/fixtures/documentation.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

/** The table of faults in docs/federation.md: each row has its tests here, or is named with those that show it. */

const keys = 'test/integration/services/issuer-keys.test.ts';
const requests = 'test/integration/http/federated-tokens.test.ts';
const accounts = 'test/e2e/service-token.test.ts';

/** What is seen at another level: a row, a file and the beginning of a title. */
const elsewhere: readonly (readonly [row: string, file: string, title: string])[] = [
  ['The issuer is away for less than an hour', keys, 'serve for an hour while the issuer is away'],
  [
    'The issuer is away for more than an hour',
    requests,
    'by an issuer that is away for too long: 503 with Retry-After',
  ],
  ['The issuer replaced the keys of its URL', keys, 'are fetched for a key that was added, and all servers use it'],
  ['The issuer replaced the keys of its URL', keys, 'are fetched again after five minutes, so that a key that was'],
  ['The issuer replaced keys that were given', keys, 'serve for ever, and are never fetched'],
  ['An instance admin changed the issuer', requests, 'of an issuer that must be accepted again: 401 issuer_changed'],
  ['The service token was revoked', requests, 'of a revoked service token: 401 in the same text'],
  ['The AccessGrant of a ServiceToken was withdrawn', accounts, 'is proven by JWTs of these accounts alone'],
  ['The ServiceAccount was deleted', accounts, 'is proven by JWTs of these accounts alone'],
];

const offLittle = 'The clocks differ by less than a minute';
const ahead = 'The clock of the issuer is ahead by more than a minute';
const behind = 'The clock of the issuer is behind by more than a minute';
const restored = 'The database was restored from a backup';
const copied = 'A copy of the database runs beside its original';

const signer = new JwtSigner('ES256');
const rootKeys = newRootKey();
const resources = new AsyncDisposableStack();

afterAll(() => resources.disposeAsync());

/** A server on a database, which it drops at the end. */
async function serverOn(database: TestDatabase): Promise<TestApi> {
  const api = await startTestApi({}, { rootKeys, database });
  resources.defer(() => api.close());
  return api;
}

/** What a JWT gets from a server: the status of the answer, and the fault that the server logs. */
async function answerOf(api: TestApi, jwt: string): Promise<readonly [status: number, fault: unknown]> {
  const { status, headers } = await api.client({ reveal: () => jwt }).send('GET', '/me');
  const id = headers.get('x-request-id');
  return [status, api.logs.find((line) => line['requestId'] === id && line['fault'] !== undefined)?.['fault']];
}

const works = [200, undefined] as const;

/** A service token of a world that JWTs of an issuer prove, as a row. Returns its audience. */
async function federate({ database }: TestServices, world: World, by: IssuerFixture): Promise<string> {
  const { id, caller } = await world.serviceToken();
  const { credentialId } = caller.principal;
  return await new FederationFixtures(database.pool).federate({ id, credentialId }, by);
}

describe('a JWT that lives for a minute', () => {
  let api: TestApi;
  let issuer: IssuerFixture;
  let audience: string;

  beforeAll(async () => {
    api = await serverOn(await createTestDatabase());
    issuer = await new FederationFixtures(api.services.database.pool).issuer({ signers: [signer] });
    audience = await federate(api.services, await createWorld(api.services), issuer);
  });

  test.each([
    [offLittle, 'is used at once', { aheadBy: 55, age: 0 }, works],
    [offLittle, 'is used at the end of its life', { aheadBy: -55, age: 55 }, works],
    [ahead, 'is used at once', { aheadBy: 65, age: 0 }, [401, 'jwt_not_valid_yet']],
    [ahead, 'is used ten seconds later', { aheadBy: 65, age: 10 }, works],
    [behind, 'is used at once', { aheadBy: -115, age: 0 }, works],
    [behind, 'is used ten seconds later', { aheadBy: -115, age: 10 }, [401, 'jwt_expired']],
  ] as const)('%s: it %s', async (_row, _when, { aheadBy, age }, expected) => {
    const times = timesFor(60, Date.now() + (aheadBy - age) * 1000);
    expect(await answerOf(api, jwtFor(signer, issuer, audience, times))).toEqual(expected);
  });
});

describe('a copy of a database', () => {
  const cluster = 'home';
  const kubernetes = { iss: 'https://kubernetes.default.svc' };
  const caller = resourceCaller({ kind: 'ServiceToken', name: 'ci', cluster, grantsNow: () => [ruleFor(world)] });
  let original: TestDatabase;
  let world: World;
  let issuer: IssuerFixture;
  /** Of a token that a person made, and of a ServiceToken. */
  let jwts: readonly [string, string];

  beforeAll(async () => {
    original = await createTestDatabase();
    resources.defer(() => original.drop());
    const services = await startServices(original.url, { rootKeys });
    world = await createWorld(services);
    issuer = await new FederationFixtures(services.database.pool).issuer({ signers: [signer] });
    await putClusterIssuer(services.database.pool, cluster, { ...kubernetes, keys: [signer.jwk] });
    jwts = [jwtFor(signer, issuer, await federate(services, world, issuer)), await nextSerial(services, 1)];
    await services.close();
  });

  /** What the controller of the cluster does for a ServiceToken. Returns a JWT of its account. */
  async function nextSerial(services: TestServices, serial: number): Promise<string> {
    const access = await services.resourceAccess.mayMint(caller, { ...world.slugs, permission: 'read' });
    const input = { name: 'team-a/ci', serial, expiresAt: null, serviceAccountNames: ['ci'] };
    await services.resourceTokens.federate(access, input);
    const owner = await services.resourceAccess.owner(caller, 'service_token.read');
    const found = await services.resourceTokens.find(owner);
    const { audience } = (found === 'gone' ? undefined : found)?.credentials.at(-1) ?? {};
    return jwtFor(signer, kubernetes, audience ?? '', { sub: 'system:serviceaccount:team-a:ci' });
  }

  interface Copy {
    readonly api: TestApi;
    readonly admin: HttpClient;
    /** Runs `recovered --new-instance` beside the server, with a moment before the first run. */
    readonly renewInstance: () => Promise<void>;
  }

  /** A server on a copy that was recovered, and an instance admin there. */
  async function recovered(newInstance: boolean): Promise<Copy> {
    const copy = await copyTestDatabase(original);
    const folder = mkdtempSync(join(tmpdir(), 'keyframe-faults-'));
    resources.defer(() => rmSync(folder, { recursive: true }));
    const tokenFile = join(folder, 'token');
    const run = async (options: Pick<RecoverOptions, 'before' | 'newInstance'>): Promise<void> => {
      const database = openDatabase({ url: copy.url, poolSize: 2 });
      await recover({ database, logger: createLogger('silent') }, { tokenFile, admin: null, ...options });
      await database.close();
    };
    const before = new Date();
    await run({ before: null, newInstance });
    const api = await serverOn(copy);
    const admin = api.client({ reveal: () => readFileSync(tokenFile, 'utf8').trim() });
    return { api, admin, renewInstance: () => run({ before, newInstance: true }) };
  }

  test(`${restored}: no JWT works until what it proves was made again`, async () => {
    const { api, admin } = await recovered(false);
    for (const jwt of jwts) expect(await answerOf(api, jwt)).toEqual([401, 'revoked']);
    // The ServiceToken has its audience again. A person makes another token, once an instance admin enabled the issuer.
    await nextSerial(api.services, 2);
    expect(await answerOf(api, jwts[1])).toEqual(works);
    const name = `issuer-${issuer.id.slice(0, 8)}`;
    const federation = { issuer: name, claims: { sub: ['repo:acme/shop'] } };
    const token = { name: 'ci', scope: 'organization', permission: 'read', federation };
    const create = (status: number): Promise<{ federation: { audience: string } }> =>
      admin.expectStatus(status, 'POST', `/service-tokens/${world.slugs.organization}`, token);
    await create(409);
    const content = { preset: 'none', iss: issuer.iss, keys: [signer.jwk], algorithms: ['ES256'] };
    await admin.expectStatus(200, 'PUT', `/trusted-issuers/${name}`, content);
    const { audience } = (await create(201)).federation;
    expect(await answerOf(api, jwtFor(signer, issuer, audience))).toEqual(works);
    expect(await answerOf(api, jwts[0])).toEqual([401, 'revoked']);
  });

  test(`${copied}: a JWT for one of them is refused by the other`, async () => {
    const { api: copy } = await recovered(true);
    const own = await nextSerial(copy.services, 2);
    const production = await serverOn(await copyTestDatabase(original));
    expect(await answerOf(copy, own)).toEqual(works);
    expect(await answerOf(production, own)).toEqual([401, 'jwt_unknown_audience']);
    for (const jwt of jwts) {
      expect(await answerOf(production, jwt)).toEqual(works);
      expect(await answerOf(copy, jwt)).toEqual([401, 'revoked']);
    }
  });

  test(`${copied}: also if it gets another id after its first start`, async () => {
    const { api, renewInstance } = await recovered(false);
    await nextSerial(api.services, 2);
    expect(await answerOf(api, jwts[1])).toEqual(works);
    await renewInstance();
    expect(await answerOf(api, jwts[1])).toEqual([401, 'revoked']);
    expect(await answerOf(api, await nextSerial(api.services, 3))).toEqual(works);
    expect(await answerOf(api, jwts[1])).toEqual([401, 'revoked']);
  });
});

test('the page has these rows', () => {
  const [, table = ''] = readPage('docs/federation.md').split('\n## When something fails\n');
  const rows = Array.from((table.split('\n## ')[0] ?? '').matchAll(/^\| (?<row>[A-Z].*?) +\|/gm), ([, row]) => row);
  const shown = [offLittle, ahead, behind, restored, copied, ...elsewhere.map(([row]) => row)];
  expect(new Set(rows)).toEqual(new Set(shown));
});

test.each(elsewhere)('%s: as %s shows', (_row, file, title) => {
  expect(readFileSync(join(checkoutDirectory, file), 'utf8')).toContain(title);
});
