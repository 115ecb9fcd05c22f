import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import { approvedLoginView, deviceLoginView } from '../../../src/wire/command-logins.ts';
import { createdPersonalTokenView } from '../../../src/wire/personal-tokens.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { type HttpAnswer, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld, newRootKey } from '../../support/api/services.ts';

let api: TestApi;
/** A second replica of the same database. */
let other: TestApi;
let world: World;
const rootKeys = newRootKey();

beforeAll(async () => {
  api = await startTestApi({ trustedProxies: ['127.0.0.1'] }, { rootKeys });
  other = await startTestApi({}, { database: { ...api.database, drop: () => Promise.resolve() }, rootKeys });
  world = await createWorld(api.services);
});

afterAll(async () => {
  await other.close();
  await api.close();
});

interface Command {
  readonly verifier: string;
  readonly challenge: string;
}

function newCommand(): Command {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** What the command sends, from an address. */
function send(path: string, body: object, { from = '192.0.2.7', at = api } = {}): Promise<HttpAnswer> {
  return at.client().send('POST', path, body, { 'x-forwarded-for': from });
}

function askToken(code: string, { verifier }: Command, at = api): Promise<HttpAnswer> {
  return send('/login-tokens', { code, codeVerifier: verifier, name: 'laptop' }, { at });
}

async function begin(command: Command, from?: string) {
  const answer = await send('/device-logins', { codeChallenge: command.challenge }, from === undefined ? {} : { from });
  expect(answer.status).toBe(201);
  return deviceLoginView.parse(answer.body);
}

async function sql(text: string, ...values: unknown[]): Promise<void> {
  await api.services.database.pool.query(text, values);
}

async function auditOf(action: string, loginId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await api.services.database.pool.query<Record<string, unknown>>(
    `SELECT actor_id, source_address, target, outcome FROM audit_entry WHERE action = $1 AND target->>'loginId' = $2`,
    [action, loginId],
  );
  return rows;
}

function daysUntil(time: string | null): number {
  return Math.round((Date.parse(time ?? '') - Date.now()) / 86_400_000);
}

describe('a command on the machine of the browser', () => {
  async function approve(command: Command, browser?: SignedInBrowser): Promise<string> {
    const approving = browser ?? (await SignedInBrowser.signIn(api, world.developer.token));
    const body = { codeChallenge: command.challenge };
    return approvedLoginView.parse(await approving.expectStatus(201, 'POST', '/logins', body)).code;
  }

  test('gets a token of 30 days for the code that the browser passes on, at any replica', async () => {
    const command = newCommand();
    const code = await approve(command);
    const answer = await askToken(code, command, other);
    expect(answer.status).toBe(201);
    const { token, expiresAt, name } = createdPersonalTokenView.parse(answer.body);
    expect([name, daysUntil(expiresAt)]).toEqual(['laptop', limits.loginTokenDays]);
    const me = await api.client({ reveal: () => token }).expectStatus(200, 'GET', '/me');
    expect(me).toMatchObject({ id: world.developer.id, session: null });
    expect(JSON.stringify(api.logs) + JSON.stringify(other.logs)).not.toContain(code);
  });

  test('gets it once, and not with another secret', async () => {
    const [command, thief] = [newCommand(), newCommand()];
    const code = await approve(command);
    const refused = await expectProblem(askToken(code, thief), 'unauthenticated');
    expect(refused.detail).toContain('the code is wrong');
    const both = await Promise.all([askToken(code, command), askToken(code, command, other)]);
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 401]);
    await expectProblem(askToken(code, command), 'unauthenticated');
  });

  test('gets none after 5 minutes, nor when the session has ended', async () => {
    const command = newCommand();
    const code = await approve(command);
    await sql('UPDATE login_request SET expires_at = clock_timestamp() WHERE finished_at IS NULL');
    await expectProblem(askToken(code, command), 'unauthenticated');

    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    const later = await approve(command, browser);
    await browser.expectStatus(204, 'DELETE', `/sessions/${await browser.id()}`);
    const { detail } = await expectProblem(askToken(later, command), 'unauthenticated');
    expect(detail).toContain('the session that approved the command has ended');
  });

  test('gets a token that ends with the one that the session began with', async () => {
    const made = await api.client(world.viewer.token).send('POST', '/personal-tokens', { name: 'x', expiresInDays: 2 });
    const { token, expiresAt } = createdPersonalTokenView.parse(made.body);
    const browser = await SignedInBrowser.signIn(api, { reveal: () => token });
    const command = newCommand();
    const answer = await askToken(await approve(command, browser), command);
    expect(createdPersonalTokenView.parse(answer.body).expiresAt).toBe(expiresAt);
  });

  test('is approved in a session alone, soon after the sign-in, and for no page of another site', async () => {
    const body = { codeChallenge: newCommand().challenge };
    await expectProblem(api.client(world.developer.token).send('POST', '/logins', body), 'forbidden');
    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    const crossSite = { 'sec-fetch-site': 'cross-site', 'x-keyframe-csrf': '1' };
    await expectProblem(browser.sendAs(crossSite, 'POST', '/logins', body), 'unauthenticated');
    await sql(`UPDATE session SET verified_at = clock_timestamp() - interval '6 minutes'`);
    await expectProblem(browser.send('POST', '/logins', body), 'recent_sign_in_required');
  });
});

describe('a command on another machine', () => {
  test('waits until a user types its code, who sees where it runs; the audit has both addresses', async () => {
    const command = newCommand();
    const { deviceCode, userCode, intervalSeconds } = await begin(command, '198.51.100.9');
    expect(userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
    expect(intervalSeconds).toBe(5);
    expect(await askToken(deviceCode, command, other)).toMatchObject({ status: 200, body: { status: 'pending' } });
    const browser = await SignedInBrowser.signIn(other, world.developer.token);
    const typed = { userCode: userCode.toLowerCase().replace('-', ' ') };
    const found = await browser.expectStatus(200, 'POST', '/device-logins/lookup', typed);
    expect(found).toMatchObject({ sourceAddress: '198.51.100.9' });
    expect((await askToken(deviceCode, command)).status).toBe(200);
    await browser.expectStatus(204, 'POST', '/device-logins/approve', typed);
    // The code of a user is no code of a command.
    await expectProblem(askToken(userCode, command), 'unauthenticated');
    const answer = await askToken(deviceCode, command);
    const { id, expiresAt } = createdPersonalTokenView.parse(answer.body);
    expect(daysUntil(expiresAt)).toBe(limits.loginTokenDays);
    await expectProblem(askToken(deviceCode, command), 'unauthenticated');
    expect(await auditOf('login.approve', deviceCode)).toMatchObject([
      { actor_id: world.developer.id, target: { device: true, commandAddress: '198.51.100.9' } },
    ]);
    expect(await auditOf('personal_token.create', deviceCode)).toMatchObject([
      {
        actor_id: world.developer.id,
        source_address: '192.0.2.7',
        target: { personalTokenId: id, device: true, browserAddress: '127.0.0.1' },
      },
    ]);
  });

  test('is approved once, and gets nothing with another secret', async () => {
    const [command, thief] = [newCommand(), newCommand()];
    const { deviceCode, userCode } = await begin(command);
    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    await browser.expectStatus(204, 'POST', '/device-logins/approve', { userCode });
    await expectProblem(browser.send('POST', '/device-logins/approve', { userCode }), 'not_found');
    await expectProblem(askToken(deviceCode, thief), 'unauthenticated');
    expect((await askToken(deviceCode, command)).status).toBe(201);
  });

  test('is not found after 5 minutes', async () => {
    const command = newCommand();
    const { deviceCode, userCode } = await begin(command);
    await sql('UPDATE login_request SET expires_at = clock_timestamp() WHERE id = $1', deviceCode);
    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    await expectProblem(browser.send('POST', '/device-logins/approve', { userCode }), 'not_found');
    await expectProblem(askToken(deviceCode, command), 'unauthenticated');
  });

  test('is not found by trying codes: a session has 5 wrong ones', async () => {
    const { userCode } = await begin(newCommand());
    const browser = await SignedInBrowser.signIn(api, world.developer.token);
    const tried = Array.from({ length: limits.wrongCodesPerSession }, (_, index) => {
      return browser.send('POST', `/device-logins/${index % 2 === 0 ? 'lookup' : 'approve'}`, {
        userCode: 'BBBB-BBBB',
      });
    });
    for (const one of tried) await expectProblem(one, 'not_found');
    const { detail } = await expectProblem(browser.send('POST', '/device-logins/lookup', { userCode }), 'forbidden');
    expect(detail).toContain('too many wrong codes');
    await expectProblem(browser.send('POST', '/device-logins/approve', { userCode }), 'forbidden');
    const another = await SignedInBrowser.signIn(api, world.developer.token);
    await another.expectStatus(204, 'POST', '/device-logins/approve', { userCode });
  });

  test.each([
    ['one address', (_index: number) => '203.0.113.5'],
    ['the addresses of a network of IPv4', (index: number) => `203.0.113.${index % 256}`],
    ['the addresses of one /64', (index: number) => `2001:db8:1:1::${index.toString(16)}`],
    ['the networks of one /48', (index: number) => `2001:db8:1:${index.toString(16)}::1`],
  ])('is not displaced by a client that begins many from %s', async (_name, addressOf) => {
    await sql('DELETE FROM login_request');
    const others = ['198.51.100.9', '2001:db8:2:1::1'];
    const waiting = [];
    for (const from of others) {
      const command = newCommand();
      waiting.push({ command, deviceCode: (await begin(command, from)).deviceCode });
    }
    // Older ones of the client, and then more of it than may wait.
    for (let index = 0; index < limits.waitingDeviceLogins - others.length; index += 1) {
      await sql(
        `INSERT INTO login_request (id, code_hash, code_challenge, is_device, source_address, expires_at)
         VALUES (gen_random_uuid(), $1, $2, true, $3, clock_timestamp() + interval '5 minutes')`,
        randomBytes(32),
        randomBytes(32),
        addressOf(index),
      );
    }
    const last = newCommand();
    for (let index = 0; index < 5; index += 1) await begin(newCommand(), addressOf(limits.waitingDeviceLogins + index));
    const { deviceCode } = await begin(last, addressOf(limits.waitingDeviceLogins + 5));
    for (const one of [...waiting, { command: last, deviceCode }]) {
      expect(await askToken(one.deviceCode, one.command)).toMatchObject({ status: 200, body: { status: 'pending' } });
    }
    const late = newCommand();
    expect((await askToken((await begin(late, '192.0.2.50')).deviceCode, late)).status).toBe(200);
    const { rows } = await api.services.database.pool.query('SELECT FROM login_request');
    expect(rows).toHaveLength(limits.waitingDeviceLogins);
  });

  test('is refused if the server allows none', async () => {
    const database = { ...api.database, drop: () => Promise.resolve() };
    const closed = await startTestApi({}, { database, rootKeys, deviceLogin: false });
    try {
      const body = { codeChallenge: newCommand().challenge };
      await expectProblem(closed.client().send('POST', '/device-logins', body), 'forbidden');
      const { userCode } = await begin(newCommand());
      const browser = await SignedInBrowser.signIn(closed, world.developer.token);
      await expectProblem(browser.send('POST', '/device-logins/approve', { userCode }), 'forbidden');
      expect(await closed.client().expectStatus(200, 'GET', '/sign-in')).toMatchObject({ deviceLogin: false });
    } finally {
      await closed.close();
    }
  });

  test.each([
    ['/device-logins', { codeChallenge: 'short' }, 'codeChallenge'],
    ['/device-logins', {}, 'codeChallenge'],
    ['/login-tokens', { code: 'x', codeVerifier: 'short', name: 'x' }, 'codeVerifier'],
    ['/login-tokens', { code: 'x', codeVerifier: 'x'.repeat(43), name: '' }, 'name'],
  ])('gets what is wrong: %s %j', async (path, body, field) => {
    expect((await expectProblem(send(path, body), 'invalid_input')).errors).toMatchObject([{ field }]);
  });
});
