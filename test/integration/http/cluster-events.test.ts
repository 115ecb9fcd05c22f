import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateToken } from '../../../src/crypto/token.ts';
import { audienceOf } from '../../../src/domain/audience.ts';
import { keepHomeToken } from '../../../src/services/clusters/home-token.ts';
import { ClusterCalls, clusterRule } from '../../support/api/cluster-calls.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { startTestApi, type TestApi } from '../../support/api/http.ts';
import { RegistrationCalls } from '../../support/api/registration-calls.ts';
import { createWorldCalls, type WorldCalls } from '../../support/api/with-services.ts';
import { claimName, newHomeToken, registerCluster } from '../../support/database/cluster-credentials.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** The stream of changes that controllers read over HTTP. */

let api: TestApi;
let homeToken: string;
let world: WorldCalls['world'];
let calls: WorldCalls['calls'];
let clusters: ClusterCalls;
/** What a test has opened. */
let open: AsyncDisposableStack;
/** A home cluster that no other test uses. */
let home: string;

beforeAll(async () => {
  api = await startTestApi();
  api.services.feed.start();
  homeToken = await newHomeToken(api.services.database.pool);
});

afterAll(() => api.close());

beforeEach(async () => {
  open = new AsyncDisposableStack();
  home = `home-${randomUUID()}`;
  await claimName(api.services.database.pool, home);
  ({ world, calls } = await createWorldCalls(api.services));
  clusters = new ClusterCalls(api.services, world);
  await waitFor('the feed to hear', () => api.services.feed.ready);
});

afterEach(() => open.disposeAsync());

interface Sender {
  readonly cluster?: string;
  readonly token?: string;
  readonly process?: string;
  readonly url?: string;
}

function headersOf({ cluster = home, token = homeToken, process = randomUUID() }: Sender): Record<string, string> {
  return { authorization: `Bearer ${token}`, 'keyframe-cluster': cluster, 'keyframe-process': process };
}

function urlOf({ url = `http://127.0.0.1:${api.port}` }: Sender): string {
  return `${url}/api/v1/cluster/events`;
}

async function openReader(sender: Sender = {}): Promise<EventReader> {
  const reader = await EventReader.open(urlOf(sender), undefined, headersOf(sender));
  open.defer(() => reader.close());
  expect(await reader.nextAtOnce()).toEqual({ event: 'ready', id: undefined, data: {} });
  return reader;
}

async function statusOf(sender: Sender): Promise<readonly [number, string]> {
  const answer = await fetch(urlOf(sender), { headers: headersOf(sender) });
  const { detail } = (await answer.json()) as { readonly detail: string };
  return [answer.status, detail];
}

describe('a stream', () => {
  test('has what was committed, in the order of the commits, by ids only', async () => {
    const reader = await openReader();
    const ids: string[] = [];
    for (let number = 0; number < 20; number += 1) ids.push((await calls.put('KEY', `canary-${number}`)).revisionId);
    const events = await reader.take(20);
    expect(events.map(({ data }) => data)).toEqual(
      ids.map((revisionId) => ({
        kind: 'environment',
        organizationId: world.organization.id,
        environmentId: world.environment.id,
        revisionId,
      })),
    );
  });

  test('has nothing of organizations that allow the cluster nothing, and is ready again when one allows it', async () => {
    const remote = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    const reader = await openReader({ cluster: remote.name, token: remote.token() });
    await calls.put('KEY', '1');
    await clusters.set([clusterRule(world)], { cluster: remote.name });
    const [rules, ready] = await reader.take(2);
    expect(rules?.data).toMatchObject({ kind: 'cluster_rules', cluster: remote.name, version: 1 });
    expect(ready?.event).toBe('ready');
    const { revisionId } = await calls.put('KEY', '2');
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'environment', revisionId });
  });

  test('is refused without the token of a cluster, a process or an accepted name', async () => {
    expect(await statusOf({ token: world.owner.token.reveal() })).toEqual([401, expect.stringContaining('a cluster')]);
    expect(await statusOf({ process: 'one' })).toEqual([400, expect.stringContaining('Keyframe-Process')]);
    const { name } = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    expect((await statusOf({ cluster: name }))[0]).toBe(401);
  });

  test('ends with the token that opened it, and the controller is asked for another one before', async () => {
    const remote = await registerCluster(api.services.database.pool, `remote-${randomUUID()}`);
    const now = Math.floor(Date.now() / 1000);
    // With the leeway of a minute, it is accepted for some seconds.
    const token = remote.token({ iat: now - 120, nbf: now - 120, exp: now - 56 });
    const reader = await openReader({ cluster: remote.name, token });
    expect((await reader.nextAtOnce())?.event).toBe('renew');
    expect(await reader.nextAtOnce()).toBeUndefined();
    expect((await statusOf({ cluster: remote.name, token }))[0]).toBe(401);
  });

  test('of a cluster that is disabled ends; the next one has only what is about the cluster', async () => {
    const reader = await openReader();
    await clusters.set([clusterRule(world)], { cluster: home });
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'cluster_rules' });
    await clusters.disable(home);
    expect((await reader.nextAtOnce())?.data).toMatchObject({ kind: 'cluster', cluster: home, state: 'disabled' });
    expect(await reader.nextAtOnce()).toBeUndefined();
    const next = await openReader();
    await calls.put('KEY', '1');
    await clusters.enable(home);
    expect((await next.nextAtOnce())?.data).toMatchObject({ kind: 'cluster', state: 'enabled' });
    expect(await next.nextAtOnce()).toBeUndefined();
  });

  test('has a comment every 10 seconds', async () => {
    const reader = await openReader();
    const startedMs = performance.now();
    const waiting = reader.next();
    await waitFor('a comment', () => reader.comments > 0, { timeoutMs: 30_000 });
    expect(performance.now() - startedMs).toBeGreaterThan(8_000);
    await calls.put('KEY', '1');
    expect((await waiting)?.event).toBe('change');
  });

  test('counts in none of the limits of requests, and a process has two', async () => {
    const process = randomUUID();
    const readers = [await openReader({ process }), await openReader({ process }), await openReader({ process })];
    expect(await readers[0]?.nextAtOnce()).toBeUndefined();
    await calls.put('KEY', '1');
    expect((await readers[1]?.nextAtOnce())?.event).toBe('change');
    expect((await readers[2]?.nextAtOnce())?.event).toBe('change');
  });
});

describe('a stream ends at once', () => {
  let registrations: RegistrationCalls;

  beforeEach(() => {
    registrations = new RegistrationCalls(api.services);
  });

  /** A stream of a remote cluster that was registered as by an instance admin. */
  async function remote(): Promise<Sender> {
    const cluster = `remote-${randomUUID()}`;
    const { registration } = await registrations.set(cluster);
    const aud = audienceOf(registration?.instance ?? '', { type: 'cluster', cluster });
    const { iss, subject: sub, signer } = registrations;
    return { cluster, token: signer.sign({ iss, sub, aud: [aud], ...timesFor(3_600) }) };
  }

  /** A stream of a home cluster whose controller leads. */
  async function ofHome(): Promise<Sender> {
    homeToken = await keepNewHomeToken();
    return { cluster: home, token: homeToken };
  }

  async function keepNewHomeToken(): Promise<string> {
    const token = generateToken('cluster', randomUUID()).token.reveal();
    const { database, logger } = api.services;
    await keepHomeToken({ database, logger }, token);
    return token;
  }

  test.each<[what: string, sender: () => Promise<Sender>, end: (cluster: string) => Promise<unknown>, then: number]>([
    ['keys are replaced', remote, (name) => registrations.set(name, { keys: [new JwtSigner('ES256').jwk] }), 401],
    ['issuer is replaced', remote, (name) => registrations.set(name, { iss: 'https://issuer.example' }), 401],
    [
      'ServiceAccount is replaced',
      remote,
      (name) => registrations.set(name, { subject: 'system:serviceaccount:keyframe:other' }),
      401,
    ],
    ['cluster is disabled', remote, (name) => clusters.disable(name), 200],
    ['cluster is forgotten', remote, (name) => clusters.forget(name), 401],
    ['home cluster is disabled', ofHome, (name) => clusters.disable(name), 200],
    ['home cluster becomes a remote one', ofHome, (name) => registrations.set(name, { fromHome: true }), 401],
    [
      'home token is replaced twice',
      ofHome,
      async () => {
        await keepNewHomeToken();
        homeToken = await keepNewHomeToken();
      },
      401,
    ],
  ])('when its %s', async (_, senderOf, end, then) => {
    const sender = await senderOf();
    const reader = await openReader(sender);
    await end(sender.cluster ?? home);
    expect(await lastOf(reader)).toMatchObject({ kind: 'cluster', cluster: sender.cluster });
    expect(await openedStatus(sender)).toBe(then);
  });

  test('when the hour of the former home token is over, also one that was open before', async () => {
    const sender = await ofHome();
    const before = await openReader(sender);
    homeToken = await keepNewHomeToken();
    expect(await lastOf(before)).toMatchObject({ kind: 'cluster', cluster: home });
    const { pool } = api.services.database;
    await pool.query("UPDATE home_token SET former_until = clock_timestamp() + interval '2 seconds'");
    const reader = await openReader(sender);
    expect((await reader.nextAtOnce())?.event).toBe('renew');
    expect(await reader.nextAtOnce()).toBeUndefined();
    expect(await openedStatus(sender)).toBe(401);
  });

  /** The data of the last event before the end. */
  async function lastOf(reader: EventReader): Promise<unknown> {
    let last: unknown;
    for (let read = await reader.nextAtOnce(); read !== undefined; read = await reader.nextAtOnce()) last = read.data;
    return last;
  }

  async function openedStatus(sender: Sender): Promise<number> {
    const abort = new AbortController();
    const { status } = await fetch(urlOf(sender), { headers: headersOf(sender), signal: abort.signal });
    abort.abort();
    return status;
  }
});

test('a server that stops asks for another stream, and then ends them', async () => {
  const other = await startTestApi();
  other.services.feed.start();
  await waitFor('the feed to hear', () => other.services.feed.ready);
  const token = await newHomeToken(other.services.database.pool);
  await claimName(other.services.database.pool, home);
  const reader = await openReader({ url: `http://127.0.0.1:${other.port}`, token });
  other.services.clusterStreams.drain();
  expect((await reader.nextAtOnce())?.event).toBe('renew');
  expect(await statusOf({ url: `http://127.0.0.1:${other.port}`, token })).toEqual([
    503,
    expect.stringContaining('shutting down'),
  ]);
  const closed = other.close();
  expect(await reader.nextAtOnce()).toBeUndefined();
  await closed;
});
