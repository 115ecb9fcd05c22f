import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openDatabase, queryRows } from '../../../src/store/database.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { EncryptedPostgres } from './encrypted-postgres.ts';
import { createEmptyDatabase } from '../../support/database/postgres.ts';
import { Programs, logLine } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** A PostgreSQL whose certificate a private authority has signed, as those of cloud providers and operators are. */

const dayMs = 24 * 60 * 60 * 1000;
const resources = new AsyncDisposableStack();
const authority = makeAuthority();
const programs = new Programs();
let postgres: EncryptedPostgres;
let trusted: string;
let otherAuthority: string;

beforeAll(async () => {
  postgres = await EncryptedPostgres.start(resources, authority);
  trusted = postgres.trust(authority, 'ca.crt');
  otherAuthority = postgres.trust(makeAuthority(), 'other.crt');
});

afterAll(async () => {
  await programs.endAll();
  await resources.disposeAsync();
});

/** How a role that ends by itself ends, and what it says. */
async function ending(args: readonly string[], env: Readonly<Record<string, string>>) {
  const captured = await programs.spawn({ args, env });
  const { code } = await captured.ended;
  return { code, output: captured.output.toString() };
}

describe('with the right authority', () => {
  test('migrate succeeds, and all connections of a server are encrypted, also the one that listens', async () => {
    // By what the address says alone, they would not be.
    const env = { DATABASE_URL: postgres.url(), DATABASE_DIRECT_URL: postgres.url(), DATABASE_CA_FILE: trusted };
    expect((await ending(['migrate'], env)).code).toBe(0);
    const { server } = await programs.start({ args: ['api'], env: { ...env, ROOT_KEY: newRootKey() } });
    await waitFor('the listener', async () => (await postgres.sessions()).has('keyframe-listener: true'));
    expect(await postgres.sessions()).toEqual(new Set(['keyframe: true', 'keyframe-listener: true']));
    await server.end('SIGTERM');
  });

  test('a renewed authority is trusted by the next connection, without a restart', async () => {
    const caFile = postgres.trust(authority, 'renewed.crt');
    const database = openDatabase({ url: postgres.url(), caFile, poolSize: 2 });
    const statement = { name: 'one', text: 'SELECT 1 AS one' };
    const fixed = openDatabase({ url: postgres.url(), caFile: trusted, poolSize: 2 });
    try {
      expect(await queryRows(database.pool, statement, [])).toEqual([{ one: 1 }]);
      const next = makeAuthority();
      writeFileSync(caFile, next.certificate);
      await postgres.renew(next);
      await postgres.endSessions();
      await waitFor('a new connection', async () => {
        const rows = await queryRows(database.pool, statement, []).catch(() => []);
        return rows.length === 1;
      });
      await expect(queryRows(fixed.pool, statement, [])).rejects.toMatchObject({ code: 'store_unavailable' });
    } finally {
      await Promise.all([database.close(), fixed.close()]);
      await postgres.renew(authority);
    }
  });
});

describe('a certificate that is not valid at this time', () => {
  afterEach(() => postgres.renew(authority));

  test.each([
    ['that has expired', -3 * dayMs, 'CERT_HAS_EXPIRED'],
    ['that the clock has not reached', dayMs, 'CERT_NOT_YET_VALID'],
  ])('%s is refused with 78, but migrate waits for its renewal', async (_case, fromMs, code) => {
    const validFromMs = Date.now() + fromMs;
    await postgres.renew({ ...authority, issue: (subject) => authority.issue({ ...subject, validFromMs }) });
    const env = { DATABASE_URL: postgres.url(), DATABASE_CA_FILE: trusted };
    expect(await ending(['migrate'], env)).toEqual({
      code: 78,
      output: expect.stringMatching(`of its authority, is not valid at this time: .* \\(${code}\\)`),
    });
    const waiting = await programs.spawn({ args: ['migrate'], env: { ...env, DATABASE_WAIT: '60s' } });
    expect(await logLine(waiting, 'the database does not answer yet: waiting for it')).toMatchObject({ code });
    await postgres.renew(authority);
    expect((await waiting.ended).code).toBe(0);
  });
});

describe('a connection is refused at once, with 78 and what to do', () => {
  const roles = [['migrate'], ['recovered', '--token-file', '/nonexistent/token'], ['api']];

  test.each(roles)('if another authority is trusted: %s', async (...args) => {
    const env = { DATABASE_URL: postgres.url(), DATABASE_CA_FILE: otherAuthority, DATABASE_WAIT: '60s' };
    const { code, output } = await ending(args, args[0] === 'api' ? { ...env, ROOT_KEY: newRootKey() } : env);
    expect({ code, output }).toEqual({
      code: 78,
      output: expect.stringContaining('give the certificate of that authority in KEYFRAME_DATABASE_CA_FILE'),
    });
    expect(output).not.toContain(new URL(postgres.url()).password);
  });

  test('if no authority is named and the address asks for a verified connection', async () => {
    const { code, output } = await ending(['migrate'], { DATABASE_URL: `${postgres.url()}?sslmode=verify-full` });
    expect({ code, output }).toEqual({
      code: 78,
      output: expect.stringContaining('KEYFRAME_DATABASE_CA_FILE (database.ca of the chart)'),
    });
  });

  test('if the certificate is for another host', async () => {
    const env = { DATABASE_URL: postgres.url('127.0.0.1'), DATABASE_CA_FILE: trusted };
    expect(await ending(['migrate'], env)).toEqual({
      code: 78,
      output: expect.stringContaining('is for another host than that of KEYFRAME_DATABASE_URL'),
    });
  });

  test('if PostgreSQL offers no TLS', async () => {
    const plain = await createEmptyDatabase();
    resources.defer(() => plain.drop());
    expect(await ending(['migrate'], { DATABASE_URL: plain.url, DATABASE_CA_FILE: trusted })).toEqual({
      code: 78,
      output: expect.stringContaining('turn on ssl in PostgreSQL'),
    });
  });

  test('if the pooled address is right and the direct one is not', async () => {
    const env = { DATABASE_URL: postgres.url(), DATABASE_CA_FILE: trusted };
    const { code } = await ending(['migrate'], { ...env, DATABASE_DIRECT_URL: postgres.url('127.0.0.1') });
    expect(code).toBe(78);
  });
});
