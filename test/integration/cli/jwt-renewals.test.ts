import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readEnvironment } from '../../../src/cli/settings/environment.ts';
import { RunnerToken } from '../../../src/cli/settings/runner-token.ts';
import { TokenFile } from '../../../src/cli/settings/token-file.ts';
import { ApiClient } from '../../../src/client/api-client.ts';
import { call, streamOf } from '../../../src/client/call.ts';
import { readJwt } from '../../../src/client/jwt.ts';
import type { TokenSource } from '../../../src/client/token-source.ts';
import { startTestApi, type TestApi } from '../../support/api/http.ts';
import { createWorld } from '../../support/api/services.ts';
import { GitHubRunner } from '../../support/ci/github-runner.ts';
import { isFull } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { FederationFixtures, type IssuerFixture, jwtFor } from '../../support/oidc/federation-fixtures.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';
import { KeyServer } from '../../support/oidc/key-server.ts';

/**
 * The sources of tokens of the command renew JWTs that live for five seconds, while they are used. The clock of the issuer is
 * behind by the leeway of the server, so that each JWT ends at the end of its life.
 */

const lifeMs = 5_000;
const leewayMs = 60_000;
// 1,040 renewals in five kinds of use, or 40. A token has at most 16 streams.
const { clientsOfKind, renewals } = isFull ? { clientsOfKind: 16, renewals: 13 } : { clientsOfKind: 4, renewals: 2 };

const signer = new JwtSigner('ES256');
const resources = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'keyframe-renewals-'));
let api: TestApi;
let keys: KeyServer;
let runner: GitHubRunner;
let issuer: IssuerFixture;
let audience: string;
let params: { readonly org: string; readonly project: string; readonly env: string };

beforeAll(async () => {
  resources.defer(() => rmSync(folder, { recursive: true }));
  api = await startTestApi({}, { trustedIssuerPrivateAddresses: true, streams: { checkMs: 200 } });
  resources.defer(() => api.close());
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  const world = await createWorld(api.services);
  const { organization, project, environment } = world.slugs;
  params = { org: organization, project, env: environment };
  keys = await KeyServer.start();
  resources.use(keys);
  keys.keys = [signer.jwk];
  const fixtures = new FederationFixtures(api.services.database.pool);
  issuer = await fixtures.issuer({ url: keys.url, ca: keys.ca });
  const { id, caller } = await world.serviceToken();
  audience = await fixtures.federate({ id, credentialId: caller.principal.credentialId }, issuer);
  runner = await GitHubRunner.start({ jwtFor: newJwt });
  resources.defer(() => runner.close());
});

afterAll(() => resources.disposeAsync());

/** A JWT of this moment by the clock of the issuer. */
function newJwt(): string {
  const iat = (Date.now() - leewayMs) / 1000;
  return jwtFor(signer, issuer, audience, { iat, exp: iat + lifeMs / 1000 });
}

/** When the server refuses a JWT. */
function endOf(jwt: string): number {
  return (readJwt(jwt).expiresAt ?? Number.NaN) + leewayMs;
}

/** Counts what a source gives. */
class Watched implements TokenSource {
  readonly given = new Set<string>();
  refused = 0;
  readonly #source: TokenSource;

  constructor(source: TokenSource) {
    this.#source = source;
  }

  get renewals(): number {
    return this.given.size - 1;
  }

  async current(): Promise<string> {
    return this.#note(await this.#source.current());
  }

  async after(refused: string): Promise<string | undefined> {
    this.refused += 1;
    const other = await this.#source.after(refused);
    return other === undefined ? undefined : this.#note(other);
  }

  #note(jwt: string): string {
    this.given.add(jwt);
    return jwt;
  }
}

/** Of a request that is on its way until its JWT has ended. */
class Late implements TokenSource {
  readonly after: TokenSource['after'];
  readonly #source: TokenSource;

  constructor(source: TokenSource) {
    this.#source = source;
    this.after = (refused) => source.after(refused);
  }

  async current(): Promise<string> {
    const jwt = await this.#source.current();
    await sleep(endOf(jwt) - Date.now() + 50);
    return jwt;
  }
}

/** As a job of GitHub. */
function jobToken(): TokenSource {
  const environment = readEnvironment({ ...runner.variables, GITHUB_ACTIONS: 'true' });
  return new RunnerToken({ audience, environment, timeoutMs: undefined });
}

/** As a pod, whose kubelet replaces the file when four fifths of the life of the JWT in it are over. */
function podToken(name: string): TokenSource {
  const path = join(folder, name);
  const write = (): void => {
    writeFileSync(`${path}.new`, newJwt());
    renameSync(`${path}.new`, path);
  };
  write();
  const kubelet = setInterval(write, lifeMs * 0.8);
  resources.defer(() => clearInterval(kubelet));
  return new TokenFile(path, 'KEYFRAME_TOKEN_FILE');
}

/** Uses a source until it was renewed often enough. */
type Use = (client: ApiClient) => Promise<unknown>;

async function request(client: ApiClient): Promise<void> {
  await call(client, 'GET /me');
  await sleep(300 + Math.random() * 300);
}

/** A stream ends when its JWT does. */
async function follow(client: ApiClient): Promise<void> {
  const stream = { params, signal: AbortSignal.timeout(60_000) };
  for await (const { event } of streamOf(client, 'GET /changes/{org}/{project}/{env}', stream)) {
    expect(event).toBe('ready');
  }
}

const toNext = (source: TokenSource): TokenSource => source;
const kinds: readonly [string, (name: string) => TokenSource, (source: TokenSource) => TokenSource, Use][] = [
  ['requests of a job', jobToken, toNext, request],
  ['requests of a pod', podToken, toNext, request],
  ['streams of a pod', podToken, toNext, follow],
  ['late requests of a job', jobToken, (source) => new Late(source), (client) => call(client, 'GET /me')],
  ['late requests of a pod', podToken, (source) => new Late(source), (client) => call(client, 'GET /me')],
];

test('renew them without a failed request', async () => {
  const used = kinds.flatMap(([kind, sourceOf, given, use]) =>
    Array.from({ length: clientsOfKind }, async (_client, number) => {
      // Some are renewed when others are not.
      await sleep(((number / clientsOfKind) * lifeMs) / 2);
      const watched = new Watched(sourceOf(`${kind} ${number}`));
      const client = new ApiClient({ url: `http://127.0.0.1:${api.port}`, token: given(watched) });
      while (watched.renewals < renewals) await use(client);
      return { kind, watched };
    }),
  );
  const done = await Promise.all(used);
  const sum = (counted: typeof done, count: (watched: Watched) => number): number =>
    counted.reduce((total, { watched }) => total + count(watched), 0);
  expect(sum(done, (watched) => watched.renewals)).toBeGreaterThanOrEqual(kinds.length * clientsOfKind * renewals);
  // Those that are not late are renewed before the end. A machine that stands still changes a few.
  const timely = done.filter(({ kind }) => !kind.startsWith('late'));
  expect(sum(timely, ({ refused }) => refused)).toBeLessThan(sum(timely, (watched) => watched.renewals) / 4);
  const late = done.filter(({ kind }) => kind.startsWith('late'));
  expect(sum(late, ({ refused }) => refused)).toBeGreaterThan(sum(late, (watched) => watched.renewals) / 2);
  expect(keys.requests).toBe(1);
}, 180_000);
