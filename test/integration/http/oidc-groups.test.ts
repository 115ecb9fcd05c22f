import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { EventReader } from '../../support/api/event-reader.ts';
import { startTestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { OidcBrowser } from '../../support/oidc/browser.ts';
import type { IssuerAccount } from '../../support/oidc/issuer.ts';
import { newAccount, OidcSite } from '../../support/oidc/site.ts';

/** Groups of an issuer of OpenID Connect, and the roles that they give. */

let site: OidcSite;
let world: World;
let place = '';

beforeAll(async () => {
  site = await OidcSite.start();
  site.first.services.feed.start();
  await waitFor('the feed to hear', () => site.first.services.feed.ready);
  world = await createWorld(site.first.services);
  const { organization, project } = world.slugs;
  place = `/projects/${organization}/${project}`;
  await site.first
    .client(world.owner.token)
    .expectStatus(201, 'PUT', `${place}/roles/group:platform`, { role: 'developer' });
});

afterEach(() => site.reset());

afterAll(() => site.close());

/** The account with other groups. */
function withGroups(account: IssuerAccount, groups: unknown): IssuerAccount {
  return { ...account, claims: { ...account.claims, groups } };
}

async function groupsOf(userId: string): Promise<string[]> {
  const rows = await site.sql<{ name: string }>(
    'SELECT group_name AS name FROM group_member WHERE user_id = $1 ORDER BY group_name',
    userId,
  );
  return rows.map(({ name }) => name);
}

function expectAccess(browser: OidcBrowser, status: 200 | 404): Promise<unknown> {
  return browser.session(site.second).expectStatus(status, 'GET', place);
}

test('a sign-in brings the groups, and the next one takes those away that are gone', async () => {
  const account = newAccount();
  const { browser } = await site.signIn(withGroups(account, ['platform', 'builders']));
  const { id, rolesByPlace } = await site.me({ browser });
  expect(await groupsOf(id)).toEqual(['builders', 'platform']);
  expect(rolesByPlace).toMatchObject([{ group: 'platform', role: 'developer' }]);
  await expectAccess(browser, 200);
  const next = await site.signIn(withGroups(account, 'builders'));
  expect(await groupsOf(id)).toEqual(['builders']);
  // Sessions from before have the groups of now, too.
  await expectAccess(browser, 404);
  expect(await expectAccess(next.browser, 404)).not.toMatchObject({ detail: expect.stringContaining('sign in') });
  await site.signIn(account);
  expect(await groupsOf(id)).toEqual([]);
});

test('a group ends when the last sign-in is too long ago, and use does not renew it', async () => {
  const account = withGroups(newAccount(), ['platform']);
  const { browser } = await site.signIn(account);
  const { id } = await site.me({ browser });
  const expiry = 'SELECT expires_at AS at FROM group_member WHERE user_id = $1';
  const [before] = await site.sql<{ at: Date }>(expiry, id);
  const minutesLeft = ((before?.at.getTime() ?? 0) - Date.now()) / 60_000;
  expect(minutesLeft).toBeLessThan(24 * 60 + 1);
  expect(minutesLeft).toBeGreaterThan(24 * 60 - 15);
  await expectAccess(browser, 200);
  await site.second.services.usage.drain();
  expect(await site.sql(expiry, id)).toEqual([before]);
  await site.sql('UPDATE group_member SET expires_at = clock_timestamp() WHERE user_id = $1', id);
  const hint = expect.stringContaining('sign in again with your identity provider');
  expect(await expectAccess(browser, 404)).toMatchObject({ code: 'not_found', detail: hint });
  // The same for what does not exist, and with a role that is not enough.
  expect(await browser.session(site.first).expectStatus(404, 'GET', '/secrets/none/none/none')).toMatchObject({
    detail: hint,
  });
  await site.sql(
    `INSERT INTO membership (organization_id, user_id, role) VALUES ($1, $2, 'viewer')`,
    world.organization.id,
    id,
  );
  const denied = await browser.session(site.first).expectStatus(403, 'PATCH', place, { displayName: 'Shop' });
  expect(denied).toMatchObject({ code: 'forbidden', detail: hint });
  await site.sql('DELETE FROM membership WHERE user_id = $1', id);
  await site.signIn(account, { browser });
  await expectAccess(browser, 200);
});

test('a server with a shorter time shortens that of earlier sign-ins, and a longer one changes nothing', async () => {
  const { browser } = await site.signIn(withGroups(newAccount(), ['platform']));
  const { id } = await site.me({ browser });
  await site.sql("UPDATE identity SET last_sign_in_at = last_sign_in_at - interval '2 hours' WHERE user_id = $1", id);
  const database = { url: site.first.database.url, drop: () => Promise.resolve() };
  const hours = async (groupsMaxAge: number): Promise<void> => {
    const oidc = site.issuer.options({ groupsMaxAgeMs: groupsMaxAge * 3_600_000 });
    const other = await startTestApi({}, { database, oidc, rootKeys: site.rootKeys });
    await other.services.signIn.oidc?.shortenGroups();
    await other.close();
  };
  await hours(48);
  await expectAccess(browser, 200);
  await hours(3);
  await expectAccess(browser, 200);
  const [row] = await site.sql<{ minutes: number }>(
    `SELECT round(extract(epoch FROM g.expires_at - i.last_sign_in_at) / 60)::int AS minutes
     FROM group_member g JOIN identity i ON i.user_id = g.user_id WHERE g.user_id = $1`,
    id,
  );
  expect(row).toEqual({ minutes: 180 });
  await hours(1);
  await expectAccess(browser, 404);
});

test('a sign-in without a group ends the streams that needed it', async () => {
  const account = newAccount();
  const { browser } = await site.signIn(withGroups(account, ['platform']));
  const { organization, project, environment } = world.slugs;
  const session = browser.session(site.first);
  const url = `http://127.0.0.1:${site.first.port}/api/v1/changes/${organization}/${project}/${environment}`;
  const reader = await EventReader.open(url, undefined, { ...session.headers, cookie: session.cookie });
  try {
    await reader.take(1);
    await site.signIn(account);
    expect(await reader.nextAtOnce()).toBeUndefined();
  } finally {
    reader.close();
  }
});

describe('groups that an issuer sends', () => {
  const overage: [string, object][] = [
    ['names another place for them', { _claim_names: { groups: 'src1' } }],
    ['only says that there are some', { hasgroups: true }],
    ['sends too many', { groups: Array.from({ length: 501 }, (_, index) => `group-${index}`) }],
  ];

  test.each(overage)('are refused if it %s, and the former ones stay until they end', async (_name, claims) => {
    const account = newAccount();
    const { browser } = await site.signIn(withGroups(account, ['platform']));
    const { id } = await site.me({ browser });
    const before = await site.sessions();
    const { page } = await site.signIn({ ...account, claims: { ...account.claims, ...claims } });
    await site.expectRefused(page, 'groups_not_listed');
    expect(await site.sessions()).toBe(before);
    expect(await groupsOf(id)).toEqual(['platform']);
  });

  test('are ignored if they cannot be names, and the log has their number alone', async () => {
    const odd = ['', ' ', 'x'.repeat(201), 'two\nlines', 7, null, { name: 'SECRET' }, 'nul\u0000'];
    const { browser } = await site.signIn(withGroups(newAccount(), ['platform', 'platform', ...odd]));
    const { id } = await site.me({ browser });
    expect(await groupsOf(id)).toEqual(['platform']);
    const [line] = site.serviceLogs.filter(
      ({ msg }) => msg === 'the issuer sent groups that cannot be names of groups',
    );
    expect(line).toMatchObject({ invalid: odd.length });
    expect(JSON.stringify(site.serviceLogs)).not.toContain('SECRET');
  });

  test('do not count if the server uses none, and unlinking takes them away', async () => {
    const account = withGroups(newAccount(), ['platform']);
    const { browser } = await site.signIn(account, { query: '?fresh=1' });
    const { id } = await site.me({ browser });
    const session = browser.session(site.first);
    const { identities } = await session.expectStatus<{ identities: { id: string }[] }>(200, 'GET', '/identities');
    await session.expectStatus(204, 'DELETE', `/identities/${identities[0]?.id}`);
    expect(await groupsOf(id)).toEqual([]);
    const bare = await startTestApi({}, { oidc: site.issuer.options({ groupsClaim: null }) });
    try {
      site.issuer.account = account;
      await new OidcBrowser().signIn(bare);
      const { rows } = await bare.services.database.pool.query('SELECT FROM group_member');
      expect(rows).toEqual([]);
    } finally {
      await bare.close();
    }
  });
});
