import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createdPersonalTokenView } from '../../../src/wire/personal-tokens.ts';
import { SignedInBrowser } from '../../support/api/browser-session.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { signInWith } from '../../support/api/link-browser.ts';
import { RoleCalls } from '../../support/api/role-calls.ts';
import { type TestUser, type World, createUser, createWorld, enrol } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let api: TestApi;
let world: World;
let admin: TestUser;

beforeAll(async () => {
  // A stream looks by itself later than the tests wait, so that only a notification can end it.
  api = await startTestApi({}, { streams: { checkMs: 60_000 } });
  api.services.feed.start();
  await waitFor('the feed to hear', () => api.services.feed.ready);
  world = await createWorld(api.services);
  admin = await createUser(api.services, { instanceAdmin: true });
});

afterAll(() => api.close());

function streamUrl(): string {
  const { organization, project, environment } = world.slugs;
  return `http://127.0.0.1:${api.port}/api/v1/changes/${organization}/${project}/${environment}`;
}

describe('a session', () => {
  /** Each way, given the session and its user, who is a viewer. */
  const ways: [string, (browser: SignedInBrowser, user: TestUser) => Promise<unknown>][] = [
    [
      'it is ended',
      async (browser, { token }) => api.client(token).expectStatus(204, 'DELETE', `/sessions/${await browser.id()}`),
    ],
    ['it ends itself', async (browser) => browser.expectStatus(204, 'DELETE', `/sessions/${await browser.id()}`)],
    ['the user ends all', (_browser, { token }) => api.client(token).expectStatus(204, 'DELETE', '/sessions')],
    [
      'an instance admin ends all',
      (_browser, { id }) => api.client(admin.token).expectStatus(204, 'DELETE', `/users/${id}/sessions`),
    ],
    [
      'the access of the user is ended',
      (_browser, { id }) => api.client(admin.token).expectStatus(204, 'DELETE', `/users/${id}/personal-tokens`),
    ],
    [
      'the user is disabled',
      (_browser, { id }) => api.client(admin.token).expectStatus(200, 'PATCH', `/users/${id}`, { disabled: true }),
    ],
    [
      'its token is revoked',
      (_browser, { token, caller }) =>
        api.client(token).expectStatus(204, 'DELETE', `/personal-tokens/${caller.principal.credentialId}`),
    ],
    ['another sign-in in the browser replaces it', (browser, { token }) => SignedInBrowser.signIn(api, token, browser)],
  ];

  test.each(ways)('ends its streams at once if %s', async (_way, end) => {
    const user = await newViewer();
    const browser = await SignedInBrowser.signIn(api, user.token);
    await expectStreamEnds(browser, () => end(browser, user));
  });

  test('of a link ends its streams at once if the token of the link is revoked', async () => {
    const user = await newViewer();
    const { id, token } = createdPersonalTokenView.parse(
      (await api.client(admin.token).send('POST', '/personal-tokens', { name: 'link' })).body,
    );
    const made = await api.client({ reveal: () => token }).send('POST', `/users/${user.id}/sign-in-links`);
    const browser = await signInWith(api, (made.body as { link: string }).link);
    await expectStreamEnds(browser, () =>
      api.client(admin.token).expectStatus(204, 'DELETE', `/personal-tokens/${id}`),
    );
  });

  async function newViewer(): Promise<TestUser> {
    const user = await createUser(api.services);
    await enrol(api.services, world.owner, user, { organization: world.slugs.organization, role: 'viewer' });
    return user;
  }

  async function expectStreamEnds(browser: SignedInBrowser, end: () => Promise<unknown>): Promise<void> {
    const reader = await EventReader.open(streamUrl(), undefined, { ...browser.headers, cookie: browser.cookie });
    try {
      await reader.take(1);
      // After this event, no earlier notification can end the stream.
      const { organization, project, environment } = world.slugs;
      const key = `/secrets/${organization}/${project}/${environment}/SEEN`;
      await api.client(world.owner.token).send('PUT', key, { value: 'x' });
      await reader.take(1);
      await end();
      expect(await reader.nextAtOnce()).toBeUndefined();
    } finally {
      reader.close();
    }
  }

  test('leaves it without a role that is withdrawn: its stream ends at once, and so does the access of the token', async () => {
    const { organization, project, environment } = world.slugs;
    const place = `${organization}/${project}/${environment}`;
    const user = await new RoleCalls(api.services, world).user('environment', 'viewer');
    const browser = await SignedInBrowser.signIn(api, user.token);
    await browser.expectStatus(200, 'GET', `/secrets/${place}`);
    const reader = await EventReader.open(streamUrl(), undefined, { ...browser.headers, cookie: browser.cookie });
    try {
      await reader.take(1);
      const role = `/environments/${place}/roles/${user.id}`;
      await api.client(world.owner.token).expectStatus(204, 'DELETE', role);
      expect(await reader.nextAtOnce()).toBeUndefined();
    } finally {
      reader.close();
    }
    await browser.expectStatus(404, 'GET', `/secrets/${place}`);
    await api.client(user.token).expectStatus(404, 'GET', `/secrets/${place}`);
  });
});
