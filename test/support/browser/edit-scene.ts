import type { Page, Route } from 'playwright-core';
import type { HttpClient } from '../api/http.ts';
import type { TestUser } from '../api/services.ts';
import type { DashboardSite } from './dashboard-site.ts';
import { createOrganization, valuesAt } from './organization.ts';

/** An environment that a test edits. */
export interface EditScene {
  readonly owner: TestUser;
  readonly client: HttpClient;
  /** Of its page. */
  readonly path: string;
  /** Of its secrets, below /api/v1. */
  readonly secrets: string;
  /** All values. */
  readonly values: () => Promise<Record<string, string>>;
}

/** The environment `shop/production` with A, B and C, of an organization for one test. */
export async function createEditScene({ api }: DashboardSite, slug: string): Promise<EditScene> {
  const { owner } = await createOrganization(api, slug, ['shop/production']);
  const client = api.client(owner.token);
  const secrets = `/secrets/${slug}/shop/production`;
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a1', B: 'b1', C: 'c1' } });
  const path = `/orgs/${slug}/environments/shop/production`;
  return { owner, client, path, secrets, values: () => valuesAt(client, secrets) };
}

/** Gives a key a new value in the draft. */
export async function setKey(page: Page, key: string, value: string): Promise<void> {
  await page.getByRole('link', { name: key, exact: true }).click();
  const drawer = page.getByRole('dialog', { name: key });
  await drawer.getByRole('button', { name: 'Change the value' }).click();
  await drawer.getByLabel('New value').fill(value);
  await drawer.getByRole('button', { name: 'Close' }).click();
}

/** Deletes a key in the draft. */
export async function deleteKey(page: Page, key: string): Promise<void> {
  await page.getByRole('link', { name: key, exact: true }).click();
  const drawer = page.getByRole('dialog', { name: key });
  await drawer.getByRole('button', { name: 'Delete' }).click();
  await drawer.getByRole('button', { name: 'Close' }).click();
}

/** The panel with the plan of the draft. */
export function review(page: Page): ReturnType<Page['getByRole']> {
  return page.getByRole('dialog', { name: /^Review/ });
}

/** Opens the plan of the draft, and commits it. */
export async function commit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.getByRole('button', { name: 'Commit' }).click();
}

/** Handles the requests of a page with a method and a path below /api/v1, and counts them. */
export async function onRequest(
  page: Page,
  { method, path }: { readonly method: string; readonly path: string },
  handle: (route: Route, number: number) => Promise<void>,
): Promise<() => number> {
  let count = 0;
  await page.route(`**/api/v1${path}`, (route) => {
    if (route.request().method() !== method) return route.fallback();
    count += 1;
    return handle(route, count);
  });
  return () => count;
}
