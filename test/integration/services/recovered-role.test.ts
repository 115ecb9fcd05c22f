import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiClient } from '../../support/api/api-client.ts';
import { Canary } from '../../support/fixtures/canary.ts';
import { databaseBytes, databaseRows, processOutput } from '../../support/fixtures/leak-places.ts';
import { findLeaks } from '../../support/fixtures/leak-search.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { logLine, Programs } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const programs = new Programs();
let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyframe-recovered-'));
});

afterEach(() => rm(folder, { recursive: true }));

afterAll(async () => {
  await programs.endAll();
  await database.drop();
});

/** How the role ends, and what it says. */
async function recovered(options: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const captured = await programs.spawn({
    args: ['recovered', ...options],
    env: { DATABASE_URL: database.url, ...env },
  });
  const { code } = await captured.ended;
  return { captured, code, output: captured.output.toString() };
}

describe('the role recovered', () => {
  test('prints its options, and refuses others', async () => {
    const { code, output } = await recovered(['--help']);
    expect(code).toBe(0);
    expect(output).toMatch(
      /^ {2}--token-file FILE .*\n[^]*^ {2}--admin EMAIL .*\n[^]*^ {2}--before TIME .*\n[^]*^ {2}--new-instance /m,
    );
    const advice =
      'keyframe-server: recovered: it takes --token-file FILE, --admin EMAIL, --before TIME and --new-instance';
    expect(await recovered(['canary'])).toMatchObject({ code: 64, output: expect.stringContaining(advice) });
  });

  test('needs a database of this release’s schema, and no root key', async () => {
    const empty = await createEmptyDatabase();
    const { code, output } = await recovered(['--token-file', join(folder, 'token')], { DATABASE_URL: empty.url });
    await empty.drop();
    expect({ code, output }).toEqual({ code: 78, output: expect.stringContaining('migrate') });
    const unset = await programs.spawn({ args: ['recovered', '--token-file', join(folder, 'token')] });
    expect((await unset.ended).code).toBe(78);
    expect(unset.output.toString()).toContain('KEYFRAME_DATABASE_URL');
  });

  test('has a running server refuse every token at the next request but the new one, and shows it nowhere', async () => {
    const firstFile = join(folder, 'first');
    const env = {
      DATABASE_URL: database.url,
      ROOT_KEY: newRootKey(),
      BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
      BOOTSTRAP_TOKEN_FILE: firstFile,
    };
    const { port, server } = await programs.start({ args: ['api'], env });
    const token = (await readFile(firstFile, 'utf8')).trim();
    const api = new ApiClient({ url: `http://127.0.0.1:${port}`, token });
    const environment = await api.makeEnvironment();
    const { token: ofMachine } = await environment.createToken();
    // The server has streams once it listens for changes.
    const stream = await waitFor('a stream of changes', async () => {
      const response = await fetch(`${api.url}/api/v1/changes${environment.path.slice('/secrets'.length)}`, {
        headers: { authorization: `Bearer ${ofMachine}`, accept: 'text/event-stream' },
      });
      return response.status === 200 && response;
    });
    const file = join(folder, 'token');
    const { captured, code } = await recovered([
      '--token-file',
      file,
      '--admin',
      'Admin@Example.com',
      '--new-instance',
    ]);
    expect({ code, output: captured.output.toString() }).toMatchObject({ code: 0 });
    expect((await api.send('GET', '/me')).status).toBe(401);
    expect((await api.as(ofMachine).send('GET', environment.path)).status).toBe(401);
    // Ended by the notification, and not by the clock.
    await stream.text();
    const fresh = (await readFile(file, 'utf8')).trim();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await api.as(fresh).call('GET', '/me')).toMatchObject({ name: 'admin@example.com' });
    expect(await logLine(captured, 'the credentials of the restored database are revoked')).toMatchObject({
      serviceTokens: 1,
      credentials: 1,
      users: 1,
      personalTokens: 1,
      sessions: 0,
      signInLinks: 0,
      passkeys: 0,
      invitations: 0,
      trustedIssuers: 0,
      clusters: 0,
      newInstanceId: expect.stringMatching(/^[a-z2-7]{26}$/),
      signInClosed: true,
      keylessTokens: 0,
      admin: 'admin@example.com',
      isNewToken: true,
      tokenFile: file,
    });
    const { organization } = environment.ref;
    const { entries } = await api
      .as(fresh)
      .call<{ entries: object[] }>('GET', `/audit/${organization}?actorType=system`);
    expect(entries).toHaveLength(2);
    const output = processOutput(() => [captured, server]);
    const places = [output, databaseRows(database.url), databaseBytes(database.url)];
    expect(await findLeaks(new Canary(fresh), places)).toEqual([]);
    const remove = await output.plant(fresh);
    expect(await findLeaks(new Canary(fresh), places)).toMatchObject([{ place: 'process output' }]);
    await remove?.();
  });

  test('refuses a file that exists, in words', async () => {
    const { code, output } = await recovered(['--token-file', folder]);
    expect({ code, output }).toEqual({ code: 78, output: expect.stringContaining(`${folder} exists already`) });
  });
});
