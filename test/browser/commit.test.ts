import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { dashboardSite } from '../support/browser/dashboard-site.ts';
import { commit, createEditScene, type EditScene, onRequest, review, setKey } from '../support/browser/edit-scene.ts';
import { lookAt } from '../support/browser/looks.ts';
import { stopClock, withinPageTime } from '../support/browser/page-time.ts';
import { reloadAsks } from '../support/browser/reload-asks.ts';

const site = dashboardSite();

interface Opened extends EditScene {
  readonly page: Page;
}

/** The page of an environment of an organization for this test, with A changed in the draft. */
async function draftOf(slug: string): Promise<Opened> {
  const scene = await createEditScene(site, slug);
  const { page } = await site.visitAs(scene.owner, scene.path);
  await setKey(page, 'A', 'a2');
  return { ...scene, page };
}

const bar = (page: Page) => page.getByRole('region', { name: 'Draft' });
const discard = (page: Page) => page.getByRole('button', { name: 'Discard' });
const patchOf = ({ secrets }: EditScene) => ({ method: 'PATCH', path: secrets });

/** The response arrives when the test says so. */
async function heldCommit(opened: Opened): Promise<{ readonly release: () => void; readonly count: () => number }> {
  const isHeld = Promise.withResolvers<undefined>();
  const count = await onRequest(opened.page, patchOf(opened), async (route) => {
    const response = await route.fetch();
    await isHeld.promise;
    await route.fulfill({ response });
  });
  return { release: () => isHeld.resolve(undefined), count };
}

test('a commit that is under way cannot be discarded or sent again', async () => {
  const opened = await draftOf('saving');
  const { page, values } = opened;
  const { release, count } = await heldCommit(opened);
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  // Two clicks, before the page draws anything.
  await page.getByRole('button', { name: 'Commit' }).evaluate((button: { focus(): void; click(): void }) => {
    button.focus();
    button.click();
    button.click();
  });
  await review(page).getByRole('button', { name: 'Saving…' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await bar(page).getByText('Saving 1 change…').waitFor();
  expect(await bar(page).innerText()).not.toContain('not saved');
  expect(await discard(page).count()).toBe(0);
  expect(await lookAt(page, 'saving')).toEqual([]);
  await page.getByRole('link', { name: 'A', exact: true }).click();
  const drawer = page.getByRole('dialog', { name: 'A', exact: true });
  await drawer.getByText('Your new value is being saved.').waitFor();
  expect(await drawer.getByRole('button', { name: 'Take it out of the draft' }).count()).toBe(0);
  await page.keyboard.press('Escape');

  await page.getByRole('link', { name: 'Overview' }).click();
  await page.goBack();
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  const button = review(page).getByRole('button', { name: 'Saving…' });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  expect(await review(page).getByRole('button', { name: 'Leave out A' }).count()).toBe(0);
  expect(await reloadAsks(page)).toBe('beforeunload');
  release();
  await page.getByText('Saved as revision 2: 1 set.').waitFor();
  await review(page).waitFor({ state: 'detached' });
  expect(await bar(page).count()).toBe(0);
  expect(count()).toBe(1);
  expect(await values()).toEqual({ A: 'a2', B: 'b1', C: 'c1' });
});

test('changes of the draft while a commit is under way stay in it, and are in no conflict with the commit', async () => {
  const opened = await draftOf('closed');
  const { page, values } = opened;
  const { release } = await heldCommit(opened);
  await commit(page);
  await page.keyboard.press('Escape');
  await review(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  await page.getByLabel('Lines of KEY=value').fill('A=a3\nB=b2');
  await page.getByRole('button', { name: 'Add 2 changes to the draft' }).click();
  await bar(page).getByText('2 changes not saved').waitFor();
  await bar(page).getByText('Saving 1 change…').waitFor();
  release();
  await page.getByText('Saved as revision 2: 1 set.').waitFor();
  await page.getByText('Revision 2', { exact: true }).waitFor();
  expect(await bar(page).innerText()).toMatch(/^2 changes not saved\s+Discard/);
  expect(await values()).toEqual({ A: 'a2', B: 'b1', C: 'c1' });
  await commit(page);
  await page.getByText('Saved as revision 3: 2 set.').waitFor();
  expect(await values()).toEqual({ A: 'a3', B: 'b2', C: 'c1' });
});

test('a commit that ends while the user is on another page is reported when they come back', async () => {
  const opened = await draftOf('away');
  const { page } = opened;
  const { release } = await heldCommit(opened);
  await commit(page);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.waitForURL('**/orgs/away');
  const response = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  release();
  await response;
  await page.goBack();
  await page.getByText('Saved as revision 2: 1 set.').waitFor();
  expect(await bar(page).count()).toBe(0);
});

test('a refused commit whose panel was closed says why, and keeps the draft', async () => {
  const opened = await draftOf('refused');
  const { page, values } = opened;
  const isHeld = Promise.withResolvers<undefined>();
  await onRequest(page, patchOf(opened), async (route) => {
    await isHeld.promise;
    const body = { code: 'overloaded', detail: 'too many changes wait', status: 503, title: 'Overloaded' };
    await route.fulfill({ status: 503, json: body });
  });
  await commit(page);
  await page.keyboard.press('Escape');
  await review(page).waitFor({ state: 'detached' });
  isHeld.resolve(undefined);
  await page.getByText('Too many changes wait. Nothing was saved, and your draft is complete.').waitFor();
  await page.getByText('1 change not saved').waitFor();
  expect(await reloadAsks(page)).toBe('beforeunload');
  expect(await values()).toMatchObject({ A: 'a1' });
  await discard(page).click();
  await bar(page).waitFor({ state: 'detached' });
  expect(await page.getByText('Too many changes wait').count()).toBe(0);
});

test('a commit whose response is lost leaves the draft once the environment has its values', async () => {
  const opened = await draftOf('lost');
  const { page, client, values } = opened;
  await setKey(page, 'B', 'b2');
  const count = await onRequest(page, patchOf(opened), async (route) => {
    await route.fetch();
    await route.abort();
  });
  await commit(page);
  await page.getByText('The response to your commit was lost. The environment has all of its changes.').waitFor();
  expect(await review(page).count()).toBe(0);
  expect(await bar(page).count()).toBe(0);
  expect(count()).toBe(1);
  expect(await values()).toEqual({ A: 'a2', B: 'b2', C: 'c1' });
  const { entries } = await client.expectStatus<{ entries: { target: { key?: string } }[] }>(
    200,
    'GET',
    '/audit/lost?action=version.read',
  );
  expect(new Set(entries.map(({ target }) => target.key))).toEqual(new Set(['A', 'B']));
  expect(entries.length).toBe(2);
});

test('a commit that is saved after its response was lost leaves the draft then', async () => {
  const opened = await draftOf('late');
  const { page, client, secrets, values } = opened;
  let body: object | undefined;
  await onRequest(page, patchOf(opened), async (route) => {
    body = route.request().postDataJSON() as object;
    await route.fulfill({ status: 504, body: 'a proxy waited too long' });
  });
  await commit(page);
  await review(page).getByText('so it may be saved').waitFor();
  expect(await lookAt(page, 'commit-lost')).toEqual([]);
  await page.getByRole('button', { name: 'Back' }).click();
  await bar(page).getByText('1 change may be saved').waitFor();
  await client.expectStatus(200, 'PATCH', secrets, body);
  await page.getByText('The environment has all of its changes.').waitFor();
  expect(await bar(page).count()).toBe(0);
  expect(await values()).toEqual({ A: 'a2', B: 'b1', C: 'c1' });
});

test('a commit that did not arrive is saved once when it is sent again', async () => {
  const opened = await draftOf('again');
  const { page, values } = opened;
  await onRequest(page, patchOf(opened), (route, number) => (number === 1 ? route.abort() : route.continue()));
  await commit(page);
  await review(page).getByText('commit again: the server saves it once at most').waitFor();
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByText('Saved as revision 2: 1 set.').waitFor();
  expect(await bar(page).count()).toBe(0);
  expect(await values()).toEqual({ A: 'a2', B: 'b1', C: 'c1' });
});

test('a lost commit is sent again and refused, because the first was saved: the draft is empty all the same', async () => {
  const scene = await createEditScene(site, 'twice');
  const { client, secrets, values } = scene;
  const { page } = await site.visitAs(scene.owner, '/', { fromMs: Date.now() });
  // The page does not hear of the commit that is saved after it looked.
  await page.route('**/api/v1/changes/**', (stream) => stream.abort());
  await page.goto(site.origin + scene.path);
  await setKey(page, 'A', 'a2');
  const count = await onRequest(page, { method: 'PATCH', path: secrets }, (route, number) =>
    number > 1 ? route.continue() : route.abort(),
  );
  await commit(page);
  await review(page).getByText('so it may be saved').waitFor();
  // Nor does it look again by itself before the second commit.
  await stopClock(page);
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a2' } });
  await page.getByRole('button', { name: 'Commit' }).click();
  await withinPageTime(page, 2_000, () => page.getByText('The environment has all of its changes.').isVisible());
  expect(await page.getByText('Another user').count()).toBe(0);
  expect(count()).toBe(2);
  expect(await values()).toMatchObject({ A: 'a2' });
});

test('a lost commit that another change prevented loses nothing of the draft', async () => {
  const opened = await draftOf('beaten');
  const { page, client, secrets, values } = opened;
  await onRequest(page, patchOf(opened), (route, number) => (number === 1 ? route.abort() : route.continue()));
  await commit(page);
  await review(page).getByText('so it may be saved').waitFor();
  // Another tab of the same user.
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a-other-tab' } });
  await review(page).getByText('What the environment does not have of it is still in your draft.').waitFor();
  await review(page).getByText('1 key changed since you began: choose for each.').waitFor();
  await page.getByRole('button', { name: 'Keep yours: A' }).click();
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByText('Saved as revision 3: 1 set.').waitFor();
  expect(await values()).toMatchObject({ A: 'a2' });
});

test('a session that ends during a commit leads to the sign-in, and the draft is there afterwards', async () => {
  const opened = await draftOf('ended');
  const { page, owner, client, values } = opened;
  await onRequest(page, patchOf(opened), async (route, number) => {
    if (number === 1) {
      const { sessions } = await client.expectStatus<{ sessions: { id: string }[] }>(200, 'GET', '/sessions');
      for (const { id } of sessions) await client.expectStatus(204, 'DELETE', `/sessions/${id}`);
    }
    await route.continue();
  });
  await commit(page);
  await page.getByLabel('Personal token').fill(owner.token.reveal());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await bar(page).getByText('1 change not saved').waitFor();
  expect(await values()).toMatchObject({ A: 'a1' });
  await commit(page);
  await page.getByText('Saved as revision 2: 1 set.').waitFor();
  expect(await values()).toMatchObject({ A: 'a2' });
});
