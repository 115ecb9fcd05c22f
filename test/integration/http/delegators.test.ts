import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreatedInvitationView, CreatedLinkView } from '../../../src/wire/sign-in-links.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { expectProblem, type HttpClient } from '../../support/api/http.ts';
import { signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, type TestUser, type World } from '../../support/api/services.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/** The other users who may hold a personal token, a passkey, a link or a session. Accounts: oidc-links.test.ts. */

type Table = 'personal_token' | 'passkey' | 'sign_in_link' | 'session';
type Made = readonly [table: Table, id: string];

let site: PasskeySite;
let admin: TestUser;
let asAdmin: HttpClient;
let world: World;
let user: TestUser;

beforeAll(async () => {
  site = await PasskeySite.start();
  admin = await createUser(site.first.services, { instanceAdmin: true });
  asAdmin = site.first.client(admin.token);
  world = await createWorld(site.first.services);
});
beforeEach(async () => {
  user = await createUser(site.first.services);
});
afterAll(() => site.close());

async function delegatorsOf([table, id]: Made): Promise<string[]> {
  const [row] = await site.sql<{ delegators: string[] }>(`SELECT delegators FROM ${table} WHERE id = $1`, id);
  if (row === undefined) throw new Error(`no ${table} ${id}`);
  return row.delegators;
}

async function linkFor(id: string, by: Pick<HttpClient, 'expectStatus'> = asAdmin): Promise<string> {
  return (await by.expectStatus<CreatedLinkView>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

async function newestLink(): Promise<Made> {
  const [row] = await site.sql<{ id: string }>('SELECT id FROM sign_in_link ORDER BY created_at DESC LIMIT 1');
  return ['sign_in_link', row?.id ?? ''];
}

/** Invites an address to the organization, as its admin. */
async function invitationLink(): Promise<string> {
  const body = { email: `${randomUUID().slice(0, 8)}@example.test`, role: 'viewer' };
  const path = `/organizations/${world.slugs.organization}/invitations`;
  const client = site.first.client(world.admin.token);
  return (await client.expectStatus<CreatedInvitationView>(201, 'POST', path, body)).link;
}

/** A session of the user that began with a link of the instance admin. */
async function linkSession(): Promise<SignedInBrowser> {
  return signInWith(site.first, await linkFor(user.id));
}

async function tokenBy(by: Pick<HttpClient, 'expectStatus'>, path = '/personal-tokens'): Promise<Made> {
  const { id } = await by.expectStatus<{ id: string }>(201, 'POST', path, { name: 'made' });
  return ['personal_token', id];
}

/** What a command gets after the user has approved its sign-in in a session. */
async function loginTokenBy(session: SignedInBrowser): Promise<Made> {
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const { code } = await session.expectStatus<{ code: string }>(201, 'POST', '/logins', { codeChallenge });
  const body = { code, codeVerifier, name: 'laptop' };
  const { id } = await site.first.client().expectStatus<{ id: string }>(201, 'POST', '/login-tokens', body);
  return ['personal_token', id];
}

async function passkeyBy(session: SignedInBrowser): Promise<{ made: Made; authenticator: TestAuthenticator }> {
  const authenticator = new TestAuthenticator(passkeyOrigin);
  const { body } = await site.register(session, authenticator);
  return { made: ['passkey', (body as { id: string }).id], authenticator };
}

const idOf = async (session: SignedInBrowser): Promise<Made> => ['session', await session.id()];
const ofAdmin = (): string[] => [admin.id];

const ways: readonly [what: string, make: () => Promise<Made>, expected: () => string[]][] = [
  ['a token that a user creates', () => tokenBy(site.first.client(user.token)), () => []],
  ['a session that begins with it', async () => idOf(await SignedInBrowser.signIn(site.first, user.token)), () => []],
  [
    'a passkey that is registered there',
    async () => (await passkeyBy(await SignedInBrowser.signIn(site.first, user.token))).made,
    () => [],
  ],
  ['a token that an admin creates for a user', () => tokenBy(asAdmin, `/users/${user.id}/personal-tokens`), ofAdmin],
  [
    'the first token of a user',
    async () => {
      const body = { email: `${randomUUID()}@example.test` };
      const { id } = await asAdmin.expectStatus<{ id: string }>(201, 'POST', '/users', body);
      const [token] = await site.sql<{ id: string }>('SELECT id FROM personal_token WHERE user_id = $1', id);
      return ['personal_token', token?.id ?? ''];
    },
    ofAdmin,
  ],
  ['a token that is created with one of these', async () => tokenBy(await clientOfAdmin()), ofAdmin],
  ['a link of a user', async () => linkFor(user.id).then(newestLink), ofAdmin],
  ['a session of the link', async () => idOf(await linkSession()), ofAdmin],
  ['a token that is created there', async () => tokenBy(await linkSession()), ofAdmin],
  ['a token of a command that is approved there', async () => loginTokenBy(await linkSession()), ofAdmin],
  ['a passkey that is registered in the session of a link', async () => (await linkPasskey()).made, ofAdmin],
  ['a session of the passkey', async () => idOf(await passkeySession()), ofAdmin],
  ['a link of an invited address', async () => invitationLink().then(newestLink), () => [world.admin.id]],
  [
    'the session in which its user begins',
    async () => idOf(await signInWith(site.first, await invitationLink())),
    () => [world.admin.id],
  ],
];

async function clientOfAdmin(): Promise<HttpClient> {
  const path = `/users/${user.id}/personal-tokens`;
  const { token } = await asAdmin.expectStatus<{ token: string }>(201, 'POST', path, { name: 'given' });
  return site.first.client({ reveal: () => token });
}

const linkPasskey = async (): ReturnType<typeof passkeyBy> => passkeyBy(await linkSession());

async function passkeySession(): Promise<SignedInBrowser> {
  const { authenticator } = await linkPasskey();
  return site.sessionOf(await site.signIn(authenticator));
}

test.each(ways)('%s has its delegators', async (_, make, expected) => {
  expect(await delegatorsOf(await make())).toEqual(expected());
});

describe('a chain of links', () => {
  /** Each user opens a link in a session that began with the link of the one before. */
  async function chain(length: number): Promise<{ readonly ids: string[]; readonly session: SignedInBrowser }> {
    const ids: string[] = [admin.id];
    let by: Pick<HttpClient, 'expectStatus'> = asAdmin;
    for (;;) {
      const next = await createUser(site.first.services, { instanceAdmin: true });
      const session = await signInWith(site.first, await linkFor(next.id, by));
      if (ids.length === length) return { ids, session };
      ids.push(next.id);
      by = session;
    }
  }

  test('has all who have seen one of them, and not the user', async () => {
    const { ids, session } = await chain(3);
    expect(await delegatorsOf(await idOf(session))).toEqual(ids);
    expect(await delegatorsOf(await tokenBy(session))).toEqual(ids);
    const [first = '', second = ''] = ids;
    await linkFor(second, session);
    const own = await session.id();
    const [row] = await site.sql<{ id: string }>('SELECT user_id AS id FROM session WHERE id = $1', own);
    expect(await delegatorsOf(await newestLink())).toEqual([first, ids[2], row?.id]);
  });

  test('has at most 8 delegators', async () => {
    const { ids, session } = await chain(8);
    expect(ids).toHaveLength(8);
    expect(await delegatorsOf(await tokenBy(session))).toEqual(ids);
    const refused = session.send('POST', `/users/${user.id}/sign-in-links`);
    const { detail } = await expectProblem(refused, 'forbidden');
    expect(detail).toContain('`keyframe user sign-in-link`');
    await signInWith(site.first, await linkFor(user.id));
  });
});
