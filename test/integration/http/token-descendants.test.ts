import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import type { HttpClient } from '../../support/api/http.ts';
import { redeem, signInWith } from '../../support/api/link-browser.ts';
import { createUser, createWorld, enrol, type TestUser, type World } from '../../support/api/services.ts';
import { TestAuthenticator } from '../../support/passkeys/authenticator.ts';
import { passkeyOrigin, PasskeySite } from '../../support/passkeys/site.ts';

/**
 * What descends from a personal token, and which ends of the token or of its user it ends with (docs/people.md,
 * docs/security-model.md). `none`: a token that expires does not make it.
 */
const table = `
                                            revoked expired disabled demoted
  a session                                 ends    ends    ends     stays
  a link of a user                          ends    ends    ends     ends
  the session of a link                     ends    ends    ends     ends
  a link of an address                      ends    ends    ends     ends
  the session of a link of an address       ends    ends    ends     ends
  a link that a session created             ends    ends    ends     ends
  the session of a link of a session        ends    ends    ends     ends
  a link that the session of a link created ends    ends    ends     ends
  the session of such a link                ends    ends    ends     ends
  a token of its user                       stays   ends    ends     stays
  a token that a session created            stays   ends    ends     stays
  a token of the command                    stays   ends    ends     stays
  the first token of a user                 stays   ends    stays    stays
  a token for another user                  stays   stays   stays    stays
  a passkey                                 stays   none    ends     stays
  a passkey of the session of a link        stays   stays   stays    stays
  a token of the session of a link          stays   stays   stays    stays
  a service token                           stays   ends    stays    stays
  an invitation                             stays   stays   ends     ends
`;

type End = 'revoked' | 'expired' | 'disabled' | 'demoted';

let site: PasskeySite;
let root: HttpClient;

beforeAll(async () => {
  site = await PasskeySite.start();
  root = site.first.client((await createUser(site.first.services, { instanceAdmin: true })).token);
});
afterAll(() => site.close());

type Sender = Pick<HttpClient, 'expectStatus'>;
type Probe = () => Promise<boolean>;

/** A personal token of an instance admin, who is also an admin of the world's organization. */
interface Origin {
  readonly world: World;
  readonly user: TestUser;
  readonly text: { reveal(): string };
  readonly id: string;
  readonly client: HttpClient;
}

const hour = `interval '1 hour'`;

async function originFor(end: End): Promise<Origin> {
  const world = await createWorld(site.first.services);
  const user = await createUser(site.first.services, { instanceAdmin: true });
  await enrol(site.first.services, world.owner, user, { organization: world.slugs.organization, role: 'admin' });
  const { id, text } = await tokenBy(site.first.client(user.token), '/personal-tokens', { name: 'origin' });
  if (end === 'expired') await site.sql(`UPDATE personal_token SET expires_at = now() + ${hour} WHERE id = $1`, id);
  return { world, user, text, id, client: site.first.client(text) };
}

/** For each end, how it comes about. Two hours pass at the second one, so only what ends with the token has ended. */
const ends: Readonly<Record<End, (origin: Origin) => Promise<unknown>>> = {
  revoked: ({ user, id }) => site.first.client(user.token).expectStatus(204, 'DELETE', `/personal-tokens/${id}`),
  expired: async () => {
    for (const name of ['personal_token', 'session', 'sign_in_link', 'invitation', 'service_token_credential']) {
      const passed = `created_at = created_at - 2 * ${hour}, expires_at = expires_at - 2 * ${hour}`;
      await site.sql(`UPDATE ${name} SET ${passed} WHERE expires_at > now()`);
    }
  },
  disabled: ({ user }) => root.expectStatus(200, 'PATCH', `/users/${user.id}`, { disabled: true }),
  demoted: async ({ user, world }) => {
    await root.expectStatus(200, 'PATCH', `/users/${user.id}`, { instanceAdmin: false });
    const path = `/members/${world.slugs.organization}/${user.id}`;
    await site.first.client(world.owner.token).expectStatus(204, 'DELETE', path);
  },
};

/** What is made with the token. It returns how to see whether it works. */
const things: Readonly<Record<string, (origin: Origin) => Promise<Probe>>> = {
  'a session': async (origin) => works(await sessionOf(origin)),
  'a link of a user': async ({ client }) => redeems(await linkBy(client)),
  'the session of a link': async ({ client }) => works(await sessionOfLink(client)),
  'a link of an address': async (origin) => redeems(await invitationLinkBy(origin.client, origin)),
  'the session of a link of an address': async (origin) =>
    works(await signInWith(site.first, await invitationLinkBy(origin.client, origin))),
  'a link that a session created': async (origin) => redeems(await linkBy(await sessionOf(origin))),
  'the session of a link of a session': async (origin) => works(await sessionOfLink(await sessionOf(origin))),
  'a link that the session of a link created': async ({ client }) =>
    redeems(await linkBy(await sessionOfLink(client, { instanceAdmin: true }))),
  'the session of such a link': async ({ client }) =>
    works(await sessionOfLink(await sessionOfLink(client, { instanceAdmin: true }))),
  'a token of its user': async ({ client }) => opens(await tokenBy(client, '/personal-tokens', { name: 'x' })),
  'a token that a session created': async (origin) =>
    opens(await tokenBy(await sessionOf(origin), '/personal-tokens', { name: 'x' })),
  'a token of the command': async (origin) => opens(await commandTokenOf(origin)),
  'the first token of a user': async ({ client }) => opens(await tokenBy(client, '/users', { email: newAddress() })),
  'a token for another user': async ({ client }) => {
    const { id } = await createUser(site.first.services);
    return opens(await tokenBy(client, `/users/${id}/personal-tokens`, { name: 'x' }));
  },
  'a passkey': async (origin) => signsIn(await passkeyOf(await sessionOf(origin))),
  'a passkey of the session of a link': async ({ client }) => signsIn(await passkeyOf(await sessionOfLink(client))),
  'a token of the session of a link': async ({ client }) =>
    opens(await tokenBy(await sessionOfLink(client), '/personal-tokens', { name: 'x' })),
  'a service token': async ({ client, world }) => {
    const scope = { name: 'ci', scope: 'organization', permission: 'read' };
    return opens(await tokenBy(client, `/service-tokens/${world.slugs.organization}`, scope));
  },
  'an invitation': async ({ client, world }) => {
    const user = await createUser(site.first.services);
    const path = `/members/${world.slugs.organization}/${user.id}`;
    const { id } = await client.expectStatus<{ id: string }>(202, 'PUT', path, { role: 'viewer' });
    const invited = site.first.client(user.token);
    return async () => (await invited.send('POST', `/invitations/${id}/accept`)).status === 200;
  },
};

function newAddress(): string {
  return `${randomUUID().slice(0, 8)}@new.example.test`;
}

function sessionOf({ text }: Origin): Promise<SignedInBrowser> {
  return SignedInBrowser.signIn(site.first, text);
}

async function linkBy(by: Sender, options: { readonly instanceAdmin?: boolean } = {}): Promise<string> {
  const { id } = await createUser(site.first.services, options);
  return (await by.expectStatus<{ link: string }>(201, 'POST', `/users/${id}/sign-in-links`)).link;
}

async function sessionOfLink(by: Sender, options?: { readonly instanceAdmin: boolean }): Promise<SignedInBrowser> {
  return signInWith(site.first, await linkBy(by, options));
}

async function invitationLinkBy(by: Sender, { world }: Origin): Promise<string> {
  const path = `/organizations/${world.slugs.organization}/invitations`;
  const body = { email: newAddress(), role: 'viewer' };
  return (await by.expectStatus<{ link: string }>(201, 'POST', path, body)).link;
}

async function tokenBy(
  by: Sender,
  path: string,
  body: object,
): Promise<{ readonly id: string; readonly text: { reveal(): string } }> {
  const { id, token } = await by.expectStatus<{ id: string; token: string }>(201, 'POST', path, body);
  return { id, text: { reveal: () => token } };
}

async function commandTokenOf(origin: Origin): Promise<{ readonly text: { reveal(): string } }> {
  const codeVerifier = randomUUID() + randomUUID();
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const session = await sessionOf(origin);
  const { code } = await session.expectStatus<{ code: string }>(201, 'POST', '/logins', { codeChallenge });
  return tokenBy(site.first.client(), '/login-tokens', { code, codeVerifier, name: 'keyframe on laptop' });
}

async function passkeyOf(session: SignedInBrowser): Promise<TestAuthenticator> {
  const authenticator = new TestAuthenticator(passkeyOrigin);
  expect((await site.register(session, authenticator)).status).toBe(201);
  return authenticator;
}

function works(session: SignedInBrowser): Probe {
  return async () => (await session.send('GET', '/me')).status === 200;
}

function opens({ text }: { readonly text: { reveal(): string } }): Probe {
  return async () => (await site.first.client(text).send('GET', '/me')).status === 200;
}

function redeems(link: string): Probe {
  return async () => (await redeem(site.first, link)).status === 201;
}

function signsIn(authenticator: TestAuthenticator): Probe {
  return async () => (await site.signIn(authenticator)).status === 201;
}

const [header = '', ...lines] = table.split('\n').filter((line) => line.trim() !== '');
const columns = header.trim().split(/ +/) as End[];

/** The things of a column, each with whether it stays or ends. */
function column(end: End): (readonly [thing: string, state: string])[] {
  return lines
    .map((line) => {
      const states = line.slice(44).trim().split(/ +/);
      return [line.slice(0, 44).trim(), states[columns.indexOf(end)] ?? ''] as const;
    })
    .filter(([, state]) => state !== 'none');
}

async function makeWith(origin: Origin, names: readonly string[]): Promise<Map<string, Probe>> {
  const probes = new Map<string, Probe>();
  for (const name of names) {
    const make = things[name];
    if (make === undefined) throw new Error(`nothing makes ${name}`);
    probes.set(name, await make(origin));
  }
  return probes;
}

test('each thing has a line', () => {
  expect(column('revoked').map(([thing]) => thing)).toEqual(Object.keys(things));
});

test('while the token and its user are there, each thing works', async () => {
  const probes = await makeWith(await originFor('revoked'), Object.keys(things));
  for (const [thing, probe] of probes) expect([thing, await probe()]).toEqual([thing, true]);
});

describe.each(columns)('when the token is over, or its user: %s:', (end) => {
  let probes: ReadonlyMap<string, Probe>;

  beforeAll(async () => {
    const origin = await originFor(end);
    probes = await makeWith(
      origin,
      column(end).map(([thing]) => thing),
    );
    await ends[end](origin);
  });

  test.each(column(end))('%s %s', async (thing, state) => {
    expect((await probes.get(thing)?.()) === true ? 'stays' : 'ends').toBe(state);
  });
});
