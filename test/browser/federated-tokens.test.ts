import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { IssuerPreset } from '../../src/domain/issuer-presets.ts';
import type { HttpClient } from '../support/api/http.ts';
import { changeIssuer, insertIssuer, type TestIssuer } from '../support/api/trusted-issuers.ts';
import { enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { expectForgotten } from '../support/browser/forgotten.ts';
import { lookAt } from '../support/browser/looks.ts';
import { loseCreation } from '../support/browser/lose-creation.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { prismaOf } from '../support/database/prisma.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let owner: HttpClient;

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production']);
  owner = site.api.client(acme.owner.token);
});

const issuer = (name: string, preset: IssuerPreset): Promise<TestIssuer> =>
  insertIssuer(site.api.services.database, { name, preset });

interface Federated {
  readonly id: string;
  readonly name: string;
  readonly federation: {
    readonly audience: string;
    readonly claims: Record<string, string[]>;
    readonly generation: number;
  };
}

function createFederated(name: string, of: TestIssuer, claims: object): Promise<Federated> {
  return owner.expectStatus<Federated>(201, 'POST', '/service-tokens/acme', {
    name,
    scope: 'environment',
    environmentId: acme.environments.get('shop/production'),
    permission: 'read',
    federation: { issuer: of.name, claims },
  });
}

const row = (page: Page, name: string) => page.getByRole('row', { name });

/** Nothing is cut off at the widths of phones, a tablet, and a window at twice its size, besides names. */
async function expectNarrow(page: Page): Promise<void> {
  for (const width of [320, 390, 640, 768]) {
    await page.setViewportSize({ width, height: 800 });
    const isTooWide = `[document.documentElement, ...document.querySelectorAll('dialog[open] .drawer-content, .grid-place > .small')]
      .some((element) => element.scrollWidth > element.clientWidth)`;
    expect([width, await page.evaluate<boolean>(isTooWide)]).toEqual([width, false]);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test('a federated token shows its audience, its claims and no rotation', async () => {
  const of = await issuer('github', 'github');
  const claims = { repository_id: ['123456'], environment: ['production', 'staging'] };
  const { federation } = await createFederated('deploy', of, claims);
  const { page, complaints } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await row(page, 'deploy').getByText('Federated (github)').waitFor();
  await page.getByLabel('Filter, or paste a leaked token').fill(federation.audience);
  await row(page, 'deploy').getByRole('link').focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'deploy' });
  await drawer.getByRole('button', { name: 'Copy: the audience' }).click();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(federation.audience);
  // In the order in which the database keeps them.
  expect(await drawer.locator('.claim-values bdi').allInnerTexts()).toEqual(['production', 'staging', '123456']);
  await drawer.getByText('Generation 1, as the issuer is now').waitFor();
  await drawer.getByText('KEYFRAME_AUDIENCE: ').waitFor();
  expect(await page.getByRole('button', { name: 'Rotate the token deploy' }).count()).toBe(0);
  expect(await lookAt(page, 'token-federated')).toEqual([]);
  await expectNarrow(page);
  expect(complaints).toEqual([]);
});

test('a federated token is created with the claims of its issuer, and has an audience in place of a value', async () => {
  await issuer('github-jobs', 'github');
  const { page, complaints } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'New token' }).click();
  const drawer = page.getByRole('dialog', { name: 'New service token' });
  await drawer.getByLabel('Name', { exact: true }).fill('created');
  await drawer.getByLabel('Place').selectOption('shop / production');
  await drawer.getByLabel('Proof').selectOption('JWTs of a trusted issuer');
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('Choose the issuer.').waitFor();
  await drawer.getByLabel('Issuer').selectOption('github-jobs: https://github-jobs.example.test');
  // Those that the preset needs come first.
  expect(await drawer.locator('.claims .field:has(textarea) label').allInnerTexts()).toEqual([
    'repository_id',
    'environment',
  ]);
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('Give at least one value').first().waitFor();
  expect(await drawer.getByLabel('repository_id').getAttribute('aria-invalid')).toBe('true');
  expect(await lookAt(page, 'token-new-claims')).toEqual([]);

  await drawer.getByLabel('repository_id').fill('acme/shop');
  await drawer.getByLabel('environment').fill('production\n staging \n\n');
  await drawer.getByRole('button', { name: 'Add a claim' }).press('Enter');
  await drawer.getByLabel('Claim 1', { exact: true }).fill('actor_id');
  await drawer.getByLabel('Values of claim 1').fill('7');
  await expectNarrow(page);
  await drawer.getByRole('button', { name: 'Create token' }).click();
  // The server refuses the name of a repository.
  await drawer.getByRole('group', { name: 'Claims' }).getByText('Must have the number of the repository').waitFor();
  expect(await drawer.getByRole('alert').allInnerTexts()).toEqual([
    'Correct the fields that are marked.',
    expect.stringMatching(/^Must have the number of the repository/),
  ]);
  expect(await lookAt(page, 'token-new-refused')).toEqual([]);
  await drawer.getByLabel('repository_id').fill('123456');
  await drawer.getByLabel('repository_id').press('Tab');
  await drawer.getByRole('button', { name: 'Create token' }).press('Enter');
  await drawer.getByText('The token created exists. It has no value').waitFor();

  const { serviceTokens } = await owner.expectStatus<{ serviceTokens: Federated[] }>(
    200,
    'GET',
    '/service-tokens/acme',
  );
  const federation = serviceTokens.find(({ name }) => name === 'created')?.federation;
  expect(federation?.claims).toEqual({
    actor_id: ['7'],
    environment: ['production', 'staging'],
    repository_id: ['123456'],
  });
  await drawer.getByRole('button', { name: 'Copy: the audience' }).click();
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(federation?.audience);
  await drawer.getByText(`KEYFRAME_AUDIENCE: ${federation?.audience}`).waitFor();
  expect(await drawer.getByText('Copy the token now').count()).toBe(0);
  expect(await lookAt(page, 'token-federated')).toEqual([]);
  await expectNarrow(page);
  await page.keyboard.press('Escape');
  await row(page, 'created').getByText('Federated (github-jobs)').waitFor();
  await page.getByLabel('Filter, or paste a leaked token').fill(federation?.audience ?? '');
  await row(page, 'created').getByRole('link').click();
  await page.getByRole('dialog', { name: 'created' }).getByRole('heading', { name: 'Proof' }).waitFor();
  expect(await page.getByRole('button', { name: 'Rotate the token created' }).count()).toBe(0);
  expect(complaints.filter((complaint) => !complaint.includes(' 422 '))).toEqual([]);
});

test('if the response to a creation is lost, the second click shows the same federated token', async () => {
  await issuer('lost-issuer', 'none');
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens?new=1');
  const drawer = page.getByRole('dialog', { name: 'New service token' });
  await drawer.getByLabel('Name', { exact: true }).fill('lost');
  await drawer.getByLabel('Place').selectOption('shop / production');
  await drawer.getByLabel('Proof').selectOption('JWTs of a trusted issuer');
  await drawer.getByLabel('Issuer').selectOption('lost-issuer');
  await drawer.getByLabel('sub').fill('ci');
  await loseCreation(page, '**/api/v1/service-tokens/acme');
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('The server could not be reached.').waitFor();
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('The token lost exists. It has no value').waitFor();
  await drawer.getByText('Let the workload request a JWT').waitFor();
  const { serviceTokens } = await owner.expectStatus<{ serviceTokens: Federated[] }>(
    200,
    'GET',
    '/service-tokens/acme',
  );
  expect(serviceTokens.filter(({ name }) => name === 'lost')).toHaveLength(1);
});

test('a token whose issuer was changed needs a person, until an admin accepts the issuer', async () => {
  const changed = await issuer('frankfurt', 'kubernetes');
  const { id } = await createFederated('changed', changed, { sub: ['system:serviceaccount:shop:ci'] });
  await changeIssuer(site.api.services.database, changed);
  const { page } = await site.visitAs(acme.owner, `/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'changed' });
  // It works in an organization that does not forbid impersonation.
  await drawer.getByText('The token works on').waitFor();
  await drawer.getByText('Active', { exact: true }).waitFor();
  await owner.expectStatus(200, 'PUT', '/organizations/acme/impersonation', { forbidden: true });
  await page.reload();
  await drawer.getByText('The token is refused until').waitFor();
  await drawer.getByText('The issuer is at generation 2.').waitFor();
  expect(await lookAt(page, 'token-issuer-changed')).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Needs a person 1' }).click();
  await row(page, 'changed').getByText('Waits for acceptance').waitFor();
  expect(await lookAt(page, 'tokens-waiting')).toEqual([]);
  await expectNarrow(page);
  await row(page, 'changed').getByRole('link').click();
  await drawer.getByRole('button', { name: 'Accept the issuer of changed' }).click();
  const question = page.getByRole('dialog', { name: 'Accept generation 2 of frankfurt?' });
  expect(await lookAt(page, 'token-accept')).toEqual([]);
  await question.getByRole('button', { name: 'Accept' }).click();
  await drawer.getByText('Generation 2 of frankfurt is accepted.').waitFor();
  await drawer.getByText('Generation 2, as the issuer is now').waitFor();
  expect(await drawer.getByRole('heading', { name: 'Accept the issuer' }).count()).toBe(0);
});

test('an issuer that was changed again while the page was open is not accepted', async () => {
  const changed = await issuer('moving', 'kubernetes');
  const { id } = await createFederated('moving-token', changed, { sub: ['system:serviceaccount:shop:ci'] });
  await changeIssuer(site.api.services.database, changed);
  const { page } = await site.visitAs(acme.owner, `/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'moving-token' });
  await drawer.getByRole('button', { name: 'Accept the issuer of moving-token' }).click();
  await changeIssuer(site.api.services.database, changed);
  await page.getByRole('dialog', { name: 'Accept generation 2' }).getByRole('button', { name: 'Accept' }).click();
  await drawer.getByRole('alert').getByText('is at generation 3').waitFor();
  await drawer.getByText('The issuer is at generation 3.').waitFor();
  const { federation } = await owner.expectStatus<Federated>(200, 'GET', `/service-tokens/acme/${id}`);
  expect(federation.generation).toBe(1);
});

test('a session whose sign-in is too long ago accepts no issuer', async () => {
  const changed = await issuer('stale-issuer', 'none');
  const { id } = await createFederated('stale', changed, { sub: ['ci'] });
  await changeIssuer(site.api.services.database, changed);
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await row(page, 'stale').waitFor();
  const sessions = { where: { userId: acme.owner.id }, data: { verifiedAt: new Date(0) } };
  await prismaOf(site.api.services.database).session.updateMany(sessions);
  await page.goto(`${site.origin}/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'stale' });
  await drawer.getByText('To accept it, you need a sign-in within the last 5 minutes.').waitFor();
  await drawer.getByRole('button', { name: 'Accept the issuer of stale' }).click();
  await page
    .getByRole('dialog', { name: /^Accept generation/ })
    .getByRole('button', { name: 'Accept' })
    .click();
  await drawer.getByRole('alert').getByRole('link', { name: 'Sign in again' }).waitFor();
});

test('a claim that turns the direction of writing is shown with escapes, and each value by itself', async () => {
  const of = await issuer('bidi-issuer', 'none');
  const { id } = await createFederated('bidi', of, { sub: ['\u202Enoitcudorp', '\u05D0\u05D1'] });
  const { page } = await site.visitAs(acme.owner, `/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'bidi' });
  await drawer.getByText(String.raw`\u{202e}noitcudorp`, { exact: true }).waitFor();
  const values = drawer.locator('.claim-values bdi');
  expect(await values.allInnerTexts()).toEqual([String.raw`\u{202e}noitcudorp`, '\u05D0\u05D1']);
  expect(await lookAt(page, 'token-bidi')).toEqual([]);
});

test('an admin of a project sees what proves a token, creates none without a value, and accepts no issuer', async () => {
  const of = await issuer('project-issuer', 'none');
  const { id } = await createFederated('of-project', of, { sub: ['ci'] });
  await changeIssuer(site.api.services.database, of);
  const admin = await createVisitor(site.api, 'pat');
  await enrol(site.api.services, acme.owner, admin, { organization: 'acme', role: 'viewer' });
  await owner.expectStatus(201, 'PUT', `/projects/acme/shop/roles/${admin.email}`, { role: 'admin' });
  const { page, complaints } = await site.visitAs(admin, `/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'of-project' });
  await drawer.getByText('until an admin of the organization accepts it').waitFor();
  expect(await drawer.getByRole('button', { name: 'Accept the issuer' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  expect(await page.getByLabel('Proof').count()).toBe(0);
  expect(complaints).toEqual([]);
});

/** Both parts are as of a JWT; no key has signed it. */
const unsignedJwt = (claims: object): string =>
  [{ alg: 'RS256', kid: 'none' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.') + `.${Buffer.alloc(256, 7).toString('base64url')}`;

test('a pasted JWT is explained check by check, and leaves nothing in the browser', async () => {
  const of = await issuer('explained', 'none');
  const { id, federation } = await createFederated('explained-token', of, { sub: ['ci'] });
  const { page, requests } = await site.visitAs(acme.owner, `/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'explained-token' });
  await drawer.getByRole('button', { name: 'Explain', exact: true }).click();
  await drawer.getByText('Paste a JWT.').waitFor();
  const jwt = unsignedJwt({ aud: federation.audience, sub: 'ci' });
  await drawer.getByLabel('JWT').fill(jwt);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await drawer.getByText('The server refuses the JWT.').waitFor();
  const checks = drawer.getByRole('list', { name: 'Checks' }).getByRole('listitem');
  expect(await checks.allInnerTexts()).toEqual([
    expect.stringMatching(/^It is a JWT\s+Passed$/),
    expect.stringMatching(/^Header\s+Passed$/),
    expect.stringMatching(/^Audience of Keyframe\s+Passed$/),
    expect.stringMatching(/^Audience of this token\s+Passed$/),
    expect.stringMatching(/^Key of the issuer\s+Failed\s+The trusted issuer has no key for the JWT: /),
    ...['Signature', 'Issuer', 'Times', 'Claims', 'The token works'].map((name) =>
      expect.stringMatching(new RegExp(`^${name}\\s+Not checked$`)),
    ),
  ]);
  expect(await drawer.getByLabel('JWT').inputValue()).toBe('');
  expect(await lookAt(page, 'token-explained')).toEqual([]);
  await expectNarrow(page);
  await expectForgotten(page, jwt);
  expect(requests.filter((request) => request.url().includes(jwt))).toEqual([]);
});
