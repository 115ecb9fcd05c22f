import { expect, test } from '@jest/globals';
import type { CDPSession, Page } from 'playwright-core';
import type { CreatedInvitationView } from '../../src/wire/sign-in-links.ts';
import type { TestUser } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization } from '../support/browser/organization.ts';
import type { PageRecord } from '../support/browser/watched-page.ts';
import { prismaOf } from '../support/database/prisma.ts';

const site = dashboardSite(() => ({ passkeys: true }));

/** A page with an authenticator of the device, whose user is present and verified. */
class Authenticator {
  readonly #page: Page;
  readonly session: CDPSession;
  id = '';

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.session = session;
  }

  static async of(page: Page): Promise<Authenticator> {
    const made = new Authenticator(page, await page.context().newCDPSession(page));
    await made.#add();
    return made;
  }

  /** As `lookAt`, whose session for axe ends the authenticator: it is added again with its passkeys. */
  async lookAt(name: string): Promise<readonly string[]> {
    const { credentials } = await this.session.send('WebAuthn.getCredentials', { authenticatorId: this.id });
    const faults = await lookAt(this.#page, name);
    await this.session.send('WebAuthn.disable');
    await this.#add();
    for (const credential of credentials) {
      await this.session.send('WebAuthn.addCredential', { authenticatorId: this.id, credential });
    }
    return faults;
  }

  async #add(): Promise<void> {
    await this.session.send('WebAuthn.enable');
    const { authenticatorId } = await this.session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    this.id = authenticatorId;
  }
}

const rows = (page: Page) => page.getByRole('list', { name: 'Passkeys' }).getByRole('listitem');

async function signedIn(name: string): Promise<PageRecord & { user: TestUser; authenticator: Authenticator }> {
  const user = await createVisitor(site.api, name);
  const record = await site.visitAs(user, '/sign-in-methods');
  return { ...record, user, authenticator: await Authenticator.of(record.page) };
}

async function add(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
  await rows(page).filter({ hasText: name }).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Account:' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
}

test('an invited person registers a passkey, and from then on signs in with it', async () => {
  const { owner } = await createOrganization(site.api, 'inviting', []);
  const email = 'dora@example.com';
  const { link } = await site.api
    .client(owner.token)
    .expectStatus<CreatedInvitationView>(201, 'POST', '/organizations/inviting/invitations', { email, role: 'viewer' });
  const { pathname, hash } = new URL(link);
  const { page } = await site.visit(pathname + hash);
  await Authenticator.of(page);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Sign-in methods' }).waitFor();
  await add(page, 'Phone of Dora');
  await rows(page)
    .filter({ hasText: `Set up with a token or link of ${owner.email}` })
    .waitFor();
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('button', { name: `Account: ${email}` }).waitFor();
  const { members } = await site.api
    .client(owner.token)
    .expectStatus<{ members: { email: string }[] }>(200, 'GET', '/members/inviting');
  expect(members.map((member) => member.email)).toContain(email);
});

test('a user adds a passkey, signs in with it, and removes it', async () => {
  const { page, complaints, authenticator } = await signedIn('ann');
  await page.getByText('You have no passkeys.').waitFor();
  expect(await authenticator.lookAt('sign-in-methods-empty')).toEqual([]);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  expect(await page.getByLabel('Name').inputValue()).toBe('Chrome on Linux');
  expect(await authenticator.lookAt('sign-in-methods-dialog')).toEqual([]);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await add(page, 'Laptop of Ann');
  await page.getByRole('status').getByText('The passkey Laptop of Ann is registered.', { exact: true }).waitFor();
  expect(await authenticator.lookAt('sign-in-methods')).toEqual([]);
  const { credentials } = await authenticator.session.send('WebAuthn.getCredentials', {
    authenticatorId: authenticator.id,
  });
  expect(credentials).toMatchObject([{ isResidentCredential: true, rpId: 'localhost' }]);

  await signOut(page);
  expect(await authenticator.lookAt('sign-in-passkey')).toEqual([]);
  await page.goto(`${site.origin}/sessions`);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByText('with a passkey').waitFor();
  expect(new URL(page.url()).pathname).toBe('/sessions');
  const cookies = await page.context().cookies(site.origin);
  expect(cookies.filter(({ name }) => name === '__Host-keyframe')).toMatchObject([
    { sameSite: 'Strict', httpOnly: true },
  ]);

  await page.getByRole('button', { name: 'Account:' }).click();
  await page.getByRole('link', { name: 'Sign-in methods' }).click();
  await page.getByText('Last used').waitFor();
  await page.getByRole('button', { name: 'Remove the passkey Laptop of Ann' }).click();
  await page.getByRole('dialog', { name: 'Remove Laptop of Ann?' }).getByRole('button', { name: 'Remove' }).click();
  // The session began with it.
  await page.waitForURL('**/sign-in');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('This passkey does not sign you in here.').waitFor();
  expect(complaints.filter((text) => !text.includes(' 401 '))).toEqual([]);
});

test('a visitor who cancels, or has no passkey, gets a message and can try again', async () => {
  const { page } = await site.visit('/sign-in');
  const { session, id } = await Authenticator.of(page);
  await session.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false });
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('No passkey was used.').waitFor();
  expect(await lookAt(page, 'sign-in-passkey-refused')).toEqual([]);
  expect(await page.getByRole('button', { name: 'Use a passkey' }).getAttribute('aria-disabled')).toBe('false');
});

test('an authenticator registers once for a user', async () => {
  const { page } = await signedIn('bo');
  await add(page, 'First');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').getByText('This device has a passkey of yours already.').waitFor();
  expect(await rows(page).count()).toBe(1);
});

test('a passkey of a backup works once its user has confirmed it, signed in another way', async () => {
  const { page, user, authenticator } = await signedIn('cy');
  await add(page, 'Laptop');
  await prismaOf(site.api.services.database).passkey.updateMany({
    where: { userId: user.id },
    data: { unusableSince: new Date() },
  });
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('alert').getByText('comes from a backup').waitFor();
  await page.getByLabel('Personal token').fill(user.token.reveal());
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Account:' }).waitFor();
  await page.goto(`${site.origin}/sign-in-methods`);
  await page.getByText('Needs confirmation').waitFor();
  expect(await authenticator.lookAt('sign-in-methods-unusable')).toEqual([]);
  await page.getByRole('button', { name: 'Confirm the passkey Laptop' }).click();
  await page.getByText('Needs confirmation').waitFor({ state: 'hidden' });
  await signOut(page);
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('button', { name: 'Account: cy@example.com' }).waitFor();
});

test('without a recent sign-in the page leads to a new one and back', async () => {
  const { page, user, authenticator } = await signedIn('di');
  await add(page, 'Laptop');
  const prisma = prismaOf(site.api.services.database);
  await prisma.session.updateMany({ where: { userId: user.id }, data: { verifiedAt: new Date(0) } });
  await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('alert').getByText('needs a sign-in within the last 5 minutes').waitFor();
  await page.reload();
  await page.getByText('To change them, you need a sign-in').waitFor();
  expect(await authenticator.lookAt('sign-in-methods-again')).toEqual([]);
  await page.getByRole('link', { name: 'Sign in again' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL('**/sign-in-methods');
  await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.waitForURL('**/sign-in');
  expect(await prisma.passkey.count({ where: { userId: user.id } })).toBe(0);
});

test('at another address of the server, both pages name the one where passkeys work', async () => {
  const user = await createVisitor(site.api, 'ed');
  const elsewhere = `http://127.0.0.1:${site.api.port}`;
  const { page } = await site.visit('/sign-in');
  await page.goto(`${elsewhere}/sign-in`);
  await page.getByText('Passkeys work at').waitFor();
  expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0);
  await page.getByLabel('Personal token').fill(user.token.reveal());
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Account:' }).waitFor();
  await page.goto(`${elsewhere}/sign-in-methods`);
  await page.getByRole('link', { name: site.origin }).waitFor();
  expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
});
