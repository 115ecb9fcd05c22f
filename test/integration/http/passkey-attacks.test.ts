import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { generateKeyPairSync } from 'node:crypto';
import { pageHeaders } from '../../support/api/browser-session.ts';
import type { HttpAnswer } from '../../support/api/http.ts';
import { startTestApi } from '../../support/api/http.ts';
import { type Forgery, TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { type PasskeyUser, passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** Attacks on a sign-in with a passkey, and on its registration. None begins a session or registers anything. */

let site: PasskeySite;
let victim: PasskeyUser;

beforeAll(async () => {
  site = await PasskeySite.start();
});

beforeEach(async () => {
  victim = await site.registered();
});

afterAll(() => site.close());

const refusedSentence = 'This passkey does not sign you in here. Try again, or sign in another way.';

async function expectRefused(answer: HttpAnswer, fault: string, about: object = {}): Promise<void> {
  expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', detail: refusedSentence } });
  await expectNothing(answer, fault, about);
}

/** No session, no cookie of one, and an audit entry without a person, because none is proven. */
async function expectNothing(answer: HttpAnswer, fault: string, about: object): Promise<void> {
  expect(answer.headers.getSetCookie().filter((line) => line.startsWith('__Host-keyframe='))).toEqual([]);
  expect(await site.sessions()).toBe(before);
  expect(await site.lastAudit()).toMatchObject({
    action: 'session.create',
    outcome: 'denied',
    actor_type: 'system',
    actor_name: 'sign-in',
    ...about,
    target: { signedInWith: 'passkey', fault },
  });
}

let before = 0;

beforeEach(async () => {
  before = await site.sessions();
});

const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const forgeries: [string, Forgery, string][] = [
  ['of another origin (phishing)', { origin: 'https://keyframe.example.org' }, 'wrong_origin'],
  ['of this host without TLS', { origin: 'http://keyframe.example.com' }, 'wrong_origin'],
  ['of another port', { origin: 'https://keyframe.example.com:8443' }, 'wrong_origin'],
  ['of a frame in another site', { crossOrigin: true }, 'wrong_origin'],
  ['for another relying party', { rpId: 'example.com' }, 'wrong_rp_id'],
  ['without user verification', { isVerified: false }, 'user_not_verified'],
  ['of another key', { key: otherKey }, 'passkey_invalid'],
  ['for a registration', { type: 'webauthn.create' }, 'passkey_invalid'],
  ['to another challenge', { challenge: 'A'.repeat(43) }, 'challenge_mismatch'],
  ['with the user handle of another user', { userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' }, 'user_handle_mismatch'],
  ['without a user handle', { userHandle: null }, 'user_handle_mismatch'],
];

describe('a sign-in with a response', () => {
  test.each(forgeries)('%s is refused', async (_name, forgery, fault) => {
    const { authenticator, passkey, user } = victim;
    await expectRefused(await site.signIn(authenticator, forgery), fault);
    expect(await site.lastAudit()).toMatchObject({ target: { passkeyId: passkey.id, userId: user.id } });
    // The passkey itself still works.
    expect((await site.signIn(authenticator)).status).toBe(201);
  });

  test.each([
    ['client data', 'clientDataJSON'],
    ['data of the authenticator', 'authenticatorData'],
    ['signature', 'signature'],
  ] as const)('with broken %s is refused', async (_name, part) => {
    const { options, cookie } = await site.begin();
    const { id, response } = victim.authenticator.get(options);
    const answer = await site.finish(cookie, { id, response: { ...response, [part]: 'AAAA' } });
    await expectRefused(answer, 'passkey_invalid');
  });

  test.each<[string, Record<string, string>]>([
    ['another site', { ...pageHeaders, 'sec-fetch-site': 'cross-site' }],
    ['a form', { 'sec-fetch-site': 'same-origin' }],
  ])('is not begun by %s, which could replace the flow of a browser', async (_name, headers) => {
    const answer = await site.first.client().send('POST', '/passkey-challenges', undefined, headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.has('set-cookie')).toBe(false);
  });

  test('of a passkey that is not registered is refused with the same sentence', async () => {
    const { userHandle } = victim.authenticator;
    const last = await site.lastAudit();
    const answer = await site.signIn(new TestAuthenticator(passkeyOrigin), { userHandle });
    expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated', detail: refusedSentence } });
    expect(await site.sessions()).toBe(before);
    // It proves nothing, so a client without a token could fill the audit with it.
    expect(await site.lastAudit()).toEqual(last);
  });

  test("with one user's passkey and another user's handle is refused", async () => {
    const other = await site.registered();
    const { options, cookie } = await site.begin();
    const response = victim.authenticator.get(options, { userHandle: other.authenticator.userHandle });
    await expectRefused(await site.finish(cookie, response), 'user_handle_mismatch');
  });

  test('of a copied key, whose counter is behind or stands still, is refused', async () => {
    const { authenticator, user } = victim;
    expect((await site.signIn(authenticator, { counter: 10 })).status).toBe(201);
    before = await site.sessions();
    const known = { actor_type: 'user', actor_name: user.email };
    for (const counter of [9, 10, 0]) {
      await expectRefused(await site.signIn(authenticator, { counter }), 'counter_went_back', known);
    }
    expect((await site.signIn(authenticator, { counter: 11 })).status).toBe(201);
  });

  test('of a disabled user says so, because the key is right', async () => {
    const { authenticator, user } = victim;
    const { session: admin } = await site.newcomer({ instanceAdmin: true });
    const { status } = await admin.send('PATCH', `/users/${user.id}`, { disabled: true });
    expect(status).toBe(200);
    const answer = await site.signIn(authenticator);
    expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining('is disabled') } });
    await expectNothing(answer, 'user_disabled', { actor_type: 'user', actor_name: user.email });
    await expectRefused(await site.signIn(authenticator, { key: otherKey }), 'passkey_invalid');
  });
});

describe('a challenge', () => {
  const startAgain = { status: 401, body: { detail: expect.stringContaining('not started in this browser') } };

  test('is answered once, also with the same cookie', async () => {
    const { options, cookie } = await site.begin();
    const response = victim.authenticator.get(options);
    expect((await site.finish(cookie, response)).status).toBe(201);
    for (const api of [site.first, site.second])
      expect(await site.finish(cookie, response, api)).toMatchObject(startAgain);
    expect(await site.sessions()).toBe(before + 1);
  });

  test('that is answered many times at once gets one session', async () => {
    const { options, cookie } = await site.begin();
    const response = victim.authenticator.get(options);
    const answers = await Promise.all(
      [0, 1, 2, 3].map((index) => site.finish(cookie, response, index % 2 === 0 ? site.first : site.second)),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([201, 401, 401, 401]);
    expect(await site.sessions()).toBe(before + 1);
  });

  test('ends with a wrong answer', async () => {
    const { options, cookie } = await site.begin();
    await expectRefused(
      await site.finish(cookie, victim.authenticator.get(options, { key: otherKey })),
      'passkey_invalid',
    );
    expect(await site.finish(cookie, victim.authenticator.get(options))).toMatchObject(startAgain);
  });

  test('that is too old is refused', async () => {
    const { options, cookie } = await site.begin();
    const [left] = await site.sql<{ seconds: number }>(
      `SELECT EXTRACT(EPOCH FROM max(expires_at) - clock_timestamp())::int AS seconds FROM sign_in_flow WHERE method = 'passkey'`,
    );
    expect(left?.seconds).toBeGreaterThan(290);
    expect(left?.seconds).toBeLessThanOrEqual(300);
    await site.sql('UPDATE sign_in_flow SET expires_at = clock_timestamp()');
    expect(await site.finish(cookie, victim.authenticator.get(options))).toMatchObject(startAgain);
    expect(await site.sessions()).toBe(before);
  });

  test('is answered only by a page of this server', async () => {
    const { options, cookie } = await site.begin();
    const response = victim.authenticator.get(options);
    for (const initiator of ['cross-site', 'same-site', 'none']) {
      const headers = { cookie, 'sec-fetch-site': initiator, 'x-keyframe-csrf': '1' };
      expect((await site.second.client().send('POST', '/passkey-sessions', response, headers)).status).toBe(401);
    }
    expect((await site.finish(cookie, response)).status).toBe(201);
  });

  test('of another browser is refused', async () => {
    const attacker = await site.begin();
    const own = await site.begin();
    // A response that a victim gave to the challenge of the attacker, in the browser of the attacker or in none.
    const response = victim.authenticator.get(attacker.options);
    expect(await site.finish('', response)).toMatchObject(startAgain);
    await expectRefused(await site.finish(own.cookie, response), 'challenge_mismatch');
    expect(await site.finish('__Host-keyframe-sign-in=x', response)).toMatchObject(startAgain);
  });

  test('for a registration is no challenge for a sign-in, and the other way round', async () => {
    const { options, cookie } = await site.beginRegistration(victim.session);
    const request = {
      challenge: options.challenge,
      rpId: options.rp.id,
      timeout: 1,
      userVerification: 'required',
    } as const;
    expect(await site.finish(cookie, victim.authenticator.get(request))).toMatchObject(startAgain);
    const begun = await site.begin();
    const creation = { ...options, challenge: begun.options.challenge };
    const response = new TestAuthenticator(passkeyOrigin).create(creation);
    const refused = await site.finishRegistration(victim.session, begun.cookie, response);
    expect(refused).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('not started in this session') },
    });
  });

  test('that no browser answers is removed with a later one', async () => {
    await site.sql('DELETE FROM sign_in_flow');
    await Promise.all(Array.from({ length: 5 }, () => site.begin()));
    await site.sql('UPDATE sign_in_flow SET expires_at = clock_timestamp()');
    await site.begin();
    expect(await site.sql('SELECT FROM sign_in_flow')).toHaveLength(1);
  });

  test('and wrong answers from one address are limited', async () => {
    const limited = await startTestApi(
      { rateLimits: { requests: 0, failedAuthentications: 3, trafficBytes: 0 } },
      { publicUrl: passkeyOrigin },
    );
    try {
      const statuses: number[] = [];
      for (let count = 0; count < 5; count += 1) {
        const { options } = await site.begin();
        statuses.push((await site.finish('', victim.authenticator.get(options), limited)).status);
      }
      expect(statuses).toEqual([401, 401, 401, 429, 429]);
    } finally {
      await limited.close();
    }
  });
});

describe('a registration with a response', () => {
  const registered = async (): Promise<number> => (await site.sql('SELECT FROM passkey')).length;

  async function expectUnregistered(answer: HttpAnswer, fault: string, count: number): Promise<void> {
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    expect(await registered()).toBe(count);
    expect(await site.lastAudit()).toMatchObject({
      action: 'passkey.create',
      outcome: 'denied',
      actor_name: victim.user.email,
      target: { fault },
    });
  }

  test.each([
    ['of another origin', { origin: 'https://evil.example' }, 'wrong_origin'],
    ['for another relying party', { rpId: 'evil.example' }, 'wrong_rp_id'],
    ['without user verification', { isVerified: false }, 'user_not_verified'],
    ['to another challenge', { challenge: 'A'.repeat(43) }, 'challenge_mismatch'],
    ['for a sign-in', { type: 'webauthn.get' }, 'response_invalid'],
    // The library would follow addresses in the certificates of such an attestation.
    ['with an attestation of a manufacturer', { attestation: ['android-key', []] }, 'response_invalid'],
    ['with a certificate', { attestation: ['packed', [['x5c', Buffer.from('x')]]] }, 'response_invalid'],
  ] satisfies [string, Forgery, string][])('%s is refused', async (_name, forgery, fault) => {
    const count = await registered();
    const answer = await site.register(victim.session, new TestAuthenticator(passkeyOrigin), forgery);
    await expectUnregistered(answer, fault, count);
  });

  test('that is repeated, or comes in another session, is refused', async () => {
    const { options, cookie } = await site.beginRegistration(victim.session);
    const response = new TestAuthenticator(passkeyOrigin).create(options);
    const { session: other } = await site.newcomer();
    const count = await registered();
    expect((await site.finishRegistration(other, cookie, response)).status).toBe(403);
    expect(await registered()).toBe(count);
    await expectUnregistered(
      await site.finishRegistration(victim.session, cookie, response),
      'challenge_unknown',
      count,
    );
  });
});

test('nothing of a passkey or of a challenge is in a log or in the audit', async () => {
  const { options, cookie } = await site.begin();
  const response = victim.authenticator.get(options);
  const answer = await site.finish(cookie, response);
  expect(answer.status).toBe(201);
  expect((await site.finish(cookie, response)).status).toBe(401);
  const [stored] = await site.sql<{ key: string }>(
    `SELECT rtrim(replace(encode(public_key, 'base64'), E'\\n', ''), '=') AS key FROM passkey WHERE id = $1`,
    victim.passkey.id,
  );
  const audit = await site.sql<{ text: string }>('SELECT row_to_json(audit_entry)::text AS text FROM audit_entry');
  const written = JSON.stringify([site.first.logs, site.second.logs, site.serviceLogs, audit]);
  expect(written).toContain(victim.passkey.id);
  const secrets = [
    options.challenge,
    cookie.split('=')[1] ?? '',
    site.sessionOf(answer).token.slice(-30),
    response.response.signature,
    response.response.clientDataJSON.slice(40, 90),
    victim.authenticator.id,
    stored?.key ?? '',
  ];
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(20);
    expect(written.includes(secret)).toBe(false);
  }
});
