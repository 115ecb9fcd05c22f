import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import type { PasskeysOff } from '../../../src/services/sign-in/passkeys.ts';
import { reportStrandedSignIns } from '../../../src/services/sign-in/stranded-sign-ins.ts';
import { RelyingParty } from '../../../src/identity/relying-party.ts';
import { type PasskeyUser, passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** Passkeys that came back from a backup, and passkeys of another host. */

let site: PasskeySite;
let ann: PasskeyUser;

beforeAll(async () => {
  site = await PasskeySite.start();
});

beforeEach(async () => {
  ann = await site.registered();
  // What `recovered` does with it (services/recover.test.ts).
  await site.sql('UPDATE passkey SET unusable_since = clock_timestamp()');
});

afterEach(() => site.sql('DELETE FROM passkey'));

afterAll(() => site.close());

async function expectUnusable(): Promise<void> {
  const answer = await site.signIn(ann.authenticator);
  expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('comes from a backup') } });
  expect(answer.headers.get('set-cookie')).toBeNull();
  expect(await site.lastAudit()).toMatchObject({
    action: 'session.create',
    outcome: 'denied',
    actor_name: ann.user.email,
    target: { fault: 'passkey_unusable' },
  });
  expect(await ann.session.expectStatus(200, 'GET', '/passkeys')).toMatchObject({
    passkeys: [{ unusableSince: expect.any(String) }],
  });
}

test('an unusable passkey signs in once its user has confirmed it in a session that began otherwise', async () => {
  await expectUnusable();
  const path = `/passkeys/${ann.passkey.id}/confirm`;
  await ann.session.expectStatus(204, 'POST', path);
  expect(await site.lastAudit()).toMatchObject({
    action: 'passkey.confirm',
    outcome: 'success',
    actor_name: ann.user.email,
    target: { passkeyId: ann.passkey.id, name: 'Laptop' },
  });
  await ann.session.expectStatus(204, 'POST', path);
  expect(await site.lastAudit()).toMatchObject({ target: { alreadyUsable: true } });
  expect((await site.signIn(ann.authenticator)).status).toBe(201);
});

test('a failed sign-in with it changes nothing of it', async () => {
  await expectUnusable();
  const [row] = await site.sql(`SELECT counter::int, last_used_at FROM passkey WHERE id = $1`, ann.passkey.id);
  expect(row).toEqual({ counter: 1, last_used_at: null });
});

test('a session that began with it cannot confirm it, also not on the way of instance admins', async () => {
  await site.sql('UPDATE passkey SET unusable_since = NULL');
  await site.sql('UPDATE app_user SET instance_admin = true WHERE id = $1', ann.user.id);
  const own = site.sessionOf(await site.signIn(ann.authenticator));
  await site.sql('UPDATE passkey SET unusable_since = clock_timestamp()');
  for (const path of [`/passkeys/${ann.passkey.id}`, `/users/${ann.user.id}/passkeys/${ann.passkey.id}`]) {
    expect(await own.send('POST', `${path}/confirm`)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
  await expectUnusable();
});

test('while sign-in is closed, no passkey signs in, and none is offered', async () => {
  await site.sql('UPDATE passkey SET unusable_since = NULL');
  const { user } = await site.newcomer({ instanceAdmin: true });
  const admin = site.first.client(user.token);
  expect(await admin.expectStatus(200, 'PUT', '/sign-in', { open: false })).toMatchObject({
    methods: [{ type: 'personal_token' }],
  });
  const answer = await site.signIn(ann.authenticator);
  expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('Sign-in is closed') } });
  expect(await site.lastAudit()).toMatchObject({ outcome: 'denied', target: { fault: 'sign_in_closed' } });
  await admin.expectStatus(200, 'PUT', '/sign-in', { open: true });
  expect((await site.signIn(ann.authenticator)).status).toBe(201);
});

test('an instance admin confirms it soon after a sign-in', async () => {
  const { session: admin } = await site.newcomer({ instanceAdmin: true });
  const path = `/users/${ann.user.id}/passkeys/${ann.passkey.id}/confirm`;
  await site.sql('UPDATE session SET verified_at = NULL WHERE id = $1', await admin.id());
  expect(await admin.send('POST', path)).toMatchObject({ status: 403, body: { code: 'recent_sign_in_required' } });
  await expectUnusable();
  await site.sql('UPDATE session SET verified_at = clock_timestamp() WHERE id = $1', await admin.id());
  await admin.expectStatus(204, 'POST', path);
  expect((await site.signIn(ann.authenticator)).status).toBe(201);
});

test('a server counts at its start what its host and its issuer leave useless', async () => {
  const { database } = site.first.services;
  const warnings = async (relyingParty: RelyingParty | PasskeysOff, issuer?: string): Promise<object[]> => {
    const lines: Record<string, unknown>[] = [];
    const logger = createLogger('warn', {
      write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    });
    await reportStrandedSignIns({ database, logger, relyingParty, issuer });
    return lines.map(({ level, msg, passkeys, identities, host }) => ({ level, msg, passkeys, identities, host }));
  };
  const linked = `INSERT INTO identity (id, user_id, issuer, subject, delegators) VALUES (gen_random_uuid(), $1, 'https://id.example', 'x', '{}')`;
  await site.sql(linked, ann.user.id);
  expect(await warnings(new RelyingParty(passkeyOrigin), 'https://id.example')).toEqual([]);
  expect(await warnings(new RelyingParty('https://other.example'), 'https://other.example')).toMatchObject([
    { passkeys: 1, host: 'other.example', msg: expect.stringContaining('another host') },
    { identities: 1, msg: expect.stringContaining('another issuer') },
  ]);
  expect(await warnings('no_public_url')).toMatchObject([{ passkeys: 1 }, { identities: 1 }]);
  expect(await warnings('ip_address', 'https://id.example')).toMatchObject([
    { msg: expect.stringContaining('an IP address') },
    { passkeys: 1 },
  ]);
});
