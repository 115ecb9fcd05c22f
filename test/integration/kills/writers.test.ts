import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { KeepAliveClient, type Reply } from '../../support/api/keep-alive-client.ts';
import { durabilitySettings, MortalPostgres } from '../../support/database/mortal-postgres.ts';
import { Programs, type RunningProgram } from '../../support/api/program.ts';
import { createWorld, newRootKey, startServices, type TestServices, type World } from '../../support/api/services.ts';
import { readHistory, type StoredHistory, type StoredVersion } from '../../support/database/stored-history.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { isFull } from '../../support/fixtures/test-size.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { nonEmpty } from '../../support/fixtures/non-empty.ts';

const operations = isFull ? 5_000 : 750;
const writers = 32;
const kills = isFull ? 5 : 3;
/** Every so many answers to first attempts are taken for lost on their way. */
const lostEvery = 25;
const keys = Array.from({ length: 100 }, (_, index) => `KEY_${index}`);

const programs = new Programs();
const rootKeys = newRootKey();
let postgres: MortalPostgres;
let api: RunningProgram;
let services: TestServices;
let client: KeepAliveClient;
/** Answers that said that the database is away. */
let refusals = 0;

beforeAll(async () => {
  postgres = await MortalPostgres.start();
  services = await startServices(postgres.url, { rootKeys });
  api = await programs.start({ args: ['api'], env: { DATABASE_URL: postgres.url, ROOT_KEY: rootKeys } });
  client = new KeepAliveClient(api.port, writers);
});

afterAll(async () => {
  client.close();
  await programs.endAll();
  await services.close();
  await postgres.stop();
});

/** One request that should write: its mark is the comment of all versions that it makes, and their value if it has one. */
interface Attempt {
  readonly mark: string;
  readonly keys: readonly string[];
  readonly kind: 'put' | 'patch' | 'rollback';
  /** What the answer said, if there was one. */
  acknowledged?: { readonly revision: number; readonly versions: readonly number[] };
}

interface Site {
  readonly world: World;
  readonly token: string;
  readonly attempts: Attempt[];
}

async function makeSite(first: Readonly<Record<string, string>>): Promise<Site> {
  const world = await createWorld(services);
  await secretCalls(services, world, world.developer.caller).patch(first);
  const { token } = await world.serviceToken();
  return { world, token: token.reveal(), attempts: [] };
}

function ask(site: Site, { mark, keys: [key = '', ...more], kind }: Attempt): Promise<Reply> {
  const { organization, project, environment } = site.world.slugs;
  const at = `${organization}/${project}/${environment}`;
  const authorization = `Bearer ${site.token}`;
  if (kind === 'put') {
    return client.ask({
      method: 'PUT',
      path: `/secrets/${at}/${key}`,
      authorization,
      body: { value: mark, comment: mark },
    });
  }
  if (kind === 'patch') {
    const set = Object.fromEntries([key, ...more].map((one) => [one, mark]));
    return client.ask({ method: 'PATCH', path: `/secrets/${at}`, authorization, body: { set, comment: mark } });
  }
  return client.ask({
    method: 'POST',
    path: `/versions/${at}/${key}/rollback`,
    authorization,
    headers: { 'idempotency-key': mark.replace(' ', '-') },
    body: { targetVersion: 1, comment: mark },
  });
}

function acknowledge(attempt: Attempt, { text }: Reply): void {
  const body = JSON.parse(text) as { revision: number; version?: number; set?: { version: number }[] };
  const versions = body.set?.map(({ version }) => version) ?? [body.version ?? 0];
  attempt.acknowledged = { revision: body.revision, versions };
}

/** The answer to an attempt; undefined where it says that the database is away. */
async function answerTo(site: Site, attempt: Attempt): Promise<Reply | undefined> {
  const reported = await ask(site, attempt);
  if (reported.status < 300) return reported;
  if (reported.status !== 503) throw new Error(`${attempt.mark} was answered ${reported.status}: ${reported.text}`);
  refusals += 1;
  return undefined;
}

/** Does one operation until it is acknowledged, each time with a mark of its own unless an Idempotency-Key makes it one. */
async function operate(site: Site, operation: Omit<Attempt, 'mark'>, name: string): Promise<void> {
  const begin = (tries: number): Attempt => {
    const attempt: Attempt = { ...operation, mark: `${name} ${tries}` };
    site.attempts.push(attempt);
    return attempt;
  };
  let attempt = begin(1);
  for (let tries = 1; ; tries += 1) {
    const reported = await answerTo(site, attempt);
    const isLost = tries === 1 && site.attempts.length % lostEvery === 0;
    if (reported !== undefined && !isLost) return acknowledge(attempt, reported);
    await pause(Math.min(50 * tries, 400));
    if (operation.kind !== 'rollback') attempt = begin(tries + 1);
  }
}

function operationOf(number: number, writer: number): Omit<Attempt, 'mark'> {
  const key = (step: number): string => keys[(number * 7 + writer + step * 31) % keys.length] ?? '';
  if (number % 10 === 9) return { kind: 'rollback', keys: [key(0)] };
  if (number % 5 === 2) return { kind: 'patch', keys: [key(0), key(1), key(2)].toSorted() };
  return { kind: 'put', keys: [key(0)] };
}

/** What each attempt left is what its answer said, and without an answer all of it or nothing; no other client wrote. */
function expectAllAccounted({ attempts }: Site, { versions }: StoredHistory): void {
  const byMark = Map.groupBy(versions, ({ comment }) => comment);
  const firsts = new Map(versions.filter(({ version }) => version === 1).map(({ key, value }) => [key, value]));
  byMark.delete(null);
  for (const attempt of nonEmpty(attempts)) {
    const left: readonly StoredVersion[] = byMark.get(attempt.mark) ?? [];
    byMark.delete(attempt.mark);
    const reported = attempt.acknowledged;
    if (reported === undefined && left.length === 0) continue;
    const revision = reported?.revision ?? left[0]?.revision;
    expect(left).toMatchObject(
      attempt.keys.map((key, index) => ({
        key,
        revision,
        value: attempt.kind === 'rollback' ? firsts.get(key) : attempt.mark,
        ...(reported === undefined ? {} : { version: reported.versions[index] }),
      })),
    );
  }
  expect([...byMark.keys()]).toEqual([]);
}

async function expectCurrent({ world }: Site, { versions, revision }: StoredHistory): Promise<void> {
  const newest = versions.map(({ key, value, version }) => [key, [value, version]]);
  const calls = secretCalls(services, world, world.viewer.caller);
  expect(await calls.read()).toMatchObject({ revision, secrets: Object.fromEntries(newest) });
}

test('32 writers lose nothing and do nothing twice while PostgreSQL is killed several times', async () => {
  expect(await postgres.settings()).toEqual(Object.fromEntries(durabilitySettings.map((name) => [name, 'on'])));
  const one = await makeSite({ ONE: 'first' });
  const many = await makeSite(Object.fromEntries(keys.map((key) => [key, `first ${key}`])));
  let begun = 0;
  let done = 0;
  const write = async (writer: number): Promise<void> => {
    while (begun < operations) {
      begun += 1;
      const name = `${writer}-${begun}`;
      if (writer % 2 === 0) await operate(one, { kind: 'put', keys: ['ONE'] }, name);
      else await operate(many, operationOf(begun, writer), name);
      done += 1;
    }
  };
  const kill = async (): Promise<void> => {
    for (let number = 1; number <= kills; number += 1) {
      await waitFor('the writers to go on', () => done >= (number * operations) / (kills + 1), {
        timeoutMs: 60_000,
        pollMs: 2,
      });
      await postgres.kill();
      await postgres.restart();
    }
  };
  await Promise.all([kill(), ...Array.from({ length: writers }, (_, writer) => write(writer))]);

  const ready = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${api.metricsPort}/readyz`)).ok;
  await waitFor('the server to be ready again', ready);
  expect(api.server.isRunning).toBe(true);
  const sites = [one, many];
  expect(done).toBe(operations);
  // Else no kill would have come in the way of a write.
  expect(refusals).toBeGreaterThan(kills);
  for (const site of sites) {
    const history = await readHistory(services, site.world);
    expect(history.faults).toEqual([]);
    expectAllAccounted(site, history);
    await expectCurrent(site, history);
  }
});
