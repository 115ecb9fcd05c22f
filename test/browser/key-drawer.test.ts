import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { HttpClient } from '../support/api/http.ts';
import { enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let client: HttpClient;
const secrets = '/secrets/acme/shop/production';

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production']);
  client = site.api.client(acme.owner.token);
});

/** Creates a key with these values, and opens it. */
async function open(
  key: string,
  values: readonly string[],
  { user = acme.owner, isTimeFixed = false } = {},
): Promise<Page> {
  for (const [index, value] of values.entries()) {
    await client.expectStatus(index === 0 ? 201 : 200, 'PUT', `${secrets}/${key}`, {
      value,
      comment: `step ${index + 1}`,
    });
  }
  const path = `/orgs/acme/environments/shop/production?key=${key}`;
  const { page } = await site.visitAs(user, path, isTimeFixed ? Date.now() : undefined);
  await page.getByRole('article', { name: `Version ${values.length}`, exact: true }).waitFor();
  return page;
}

const version = (page: Page, number: number) => page.getByRole('article', { name: `Version ${number}`, exact: true });
const present = async (key: string) =>
  (await client.expectStatus<{ value: string }>(200, 'GET', `${secrets}/${key}`)).value;

test('shows each version with who, when and why, and the difference of two values', async () => {
  const page = await open('CONFIG', ['host: a\nport: 1\n', 'host: b\nport: 1\n', 'host: b\nport: 2\nuser: x\n'], {
    isTimeFixed: true,
  });
  expect(await version(page, 3).innerText()).toMatch(/v3\s+Present\s+Changed just now by ann@acme\.example\s+step 3/);
  expect(await version(page, 1).innerText()).toMatch(/v1\s+Created just now by ann@acme\.example\s+step 1/);
  await version(page, 1).getByRole('button', { name: 'Compare with v3' }).click();
  expect(await page.content()).not.toContain('host: a');
  await version(page, 1).getByRole('button', { name: 'Show the difference' }).click();
  await version(page, 1).getByText('user: x').waitFor();
  const lines = await version(page, 1).locator('.diff-line').allInnerTexts();
  expect(lines.map((line) => line.replace(/\n$/, ''))).toEqual([
    '−host: a',
    '−port: 1',
    '+host: b',
    '+port: 2',
    '+user: x',
    ' ',
  ]);
  expect(await lookAt(page, 'key')).toEqual([]);
  await version(page, 1).getByRole('button', { name: 'Hide' }).click();
  expect(await page.content()).not.toContain('host: a');
});

test('rolls back with a comment, as a new version', async () => {
  const page = await open('ROLL', ['one', 'two']);
  await version(page, 1).getByRole('button', { name: 'Roll back' }).click();
  await version(page, 1).getByLabel('Comment').fill('two was wrong');
  await page.keyboard.press('Enter');
  await page.getByText('Version 3 has the value of version 1.').waitFor();
  await version(page, 3).getByText('Present').waitFor();
  expect(await version(page, 3).innerText()).toMatch(/Rolled back .*two was wrong/s);
  expect(await present('ROLL')).toBe('one');
});

test('a rollback after a change of another user is refused, and says so', async () => {
  const page = await open('RACE', ['one', 'two']);
  await page.route('**/api/v1/changes/**', (route) => route.abort());
  await page.reload();
  await version(page, 1).getByRole('button', { name: 'Roll back' }).click();
  await client.expectStatus(200, 'PUT', `${secrets}/RACE`, { value: 'three' });
  await version(page, 1).getByRole('button', { name: 'Roll back to v1' }).click();
  await version(page, 1).getByRole('alert').waitFor();
  await version(page, 3).waitFor();
  expect(await present('RACE')).toBe('three');
});

test('if the response to a rollback is lost, the second click makes no other version', async () => {
  const page = await open('LOST', ['one', 'two']);
  await page.route(
    '**/rollback',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await version(page, 1).getByRole('button', { name: 'Roll back' }).click();
  await version(page, 1).getByRole('button', { name: 'Roll back to v1' }).click();
  await version(page, 1).getByText('The server could not be reached.').waitFor();
  await version(page, 3).getByText('Present').waitFor();
  await version(page, 1).getByRole('button', { name: 'Roll back to v1' }).click();
  await page.getByText('Version 3 has the value of version 1.').waitFor();
  expect(await version(page, 4).count()).toBe(0);
});

test('destroys a value, after a decision about other versions that have it', async () => {
  const page = await open('LEAK', ['leaked', 'other', 'leaked', 'fresh']);
  expect(await version(page, 4).getByRole('button', { name: 'Destroy' }).count()).toBe(0);
  await version(page, 2).getByRole('button', { name: 'Destroy' }).click();
  await version(page, 2).getByRole('button', { name: 'Destroy the value of v2' }).click();
  await page.getByText('Destroyed: v2.').waitFor();
  await version(page, 1).getByRole('button', { name: 'Destroy' }).click();
  await version(page, 1).getByRole('button', { name: 'Destroy the value of v1' }).click();
  await version(page, 1).getByRole('button', { name: 'Destroy v1 only' }).waitFor();
  expect(await version(page, 1).getByRole('alert').innerText()).toContain('3');
  expect(await lookAt(page, 'key-destroy')).toEqual([]);
  await version(page, 1).getByRole('button', { name: 'Destroy it in all of them' }).click();
  await page.getByText('Destroyed: v1, v3.').waitFor();
  await version(page, 3).getByText('Value destroyed just now by ann@acme.example').waitFor();
  expect(await version(page, 3).getByRole('button').count()).toBe(0);
  await client.expectStatus(410, 'GET', '/versions/acme/shop/production/LEAK/1');
  expect(await present('LEAK')).toBe('fresh');
});

test('a deleted key keeps its history, and is restored from it', async () => {
  const page = await open('GONE', ['one', 'two']);
  await client.expectStatus(204, 'DELETE', `${secrets}/GONE`);
  await page.getByText('This key does not exist in the environment now.').waitFor();
  await version(page, 2).getByRole('button', { name: 'Restore' }).click();
  await version(page, 2).getByRole('button', { name: 'Restore v2' }).click();
  await page.getByText('Version 3 has the value of version 2.').waitFor();
  expect(await present('GONE')).toBe('two');
});

test('earlier versions follow page by page; a developer destroys none, and a viewer changes none', async () => {
  const values = Array.from({ length: 23 }, (_, index) => `v${index}`);
  const [developer, viewer] = [await createVisitor(site.api, 'dev'), await createVisitor(site.api, 'vic')];
  await enrol(site.api.services, acme.owner, developer, { organization: 'acme', role: 'developer' });
  await enrol(site.api.services, acme.owner, viewer, { organization: 'acme', role: 'viewer' });
  const page = await open('MANY', values, { user: developer });
  expect(await page.getByRole('article').count()).toBe(20);
  await page.route('**/api/v1/versions/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('button', { name: 'Show earlier versions' }).click();
  await page.getByRole('region', { name: 'History' }).getByRole('alert').waitFor();
  expect(await page.getByRole('article').count()).toBe(20);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await version(page, 1).waitFor();
  expect(await page.getByRole('article').count()).toBe(23);
  expect(await page.getByRole('button', { name: 'Roll back' }).count()).toBe(22);
  expect(await page.getByRole('button', { name: 'Destroy' }).count()).toBe(0);
  const read = await site.visitAs(viewer, '/orgs/acme/environments/shop/production?key=MANY');
  await version(read.page, 23).waitFor();
  expect(await read.page.getByRole('button', { name: /^(?:Roll back|Destroy|Delete)$/ }).count()).toBe(0);
});

test('a history that fails to load says so, and a second try loads it', async () => {
  const page = await open('FLAKY', ['one']);
  await page.route('**/api/v1/versions/**', (route) => route.abort());
  await page.reload();
  await page.getByRole('region', { name: 'History' }).getByRole('alert').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await version(page, 1).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});
