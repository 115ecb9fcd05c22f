import { expect, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { createEditScene, deleteKey, review, setKey } from '../support/browser/edit-scene.ts';
import { lookAt } from '../support/browser/looks.ts';
import { planLooks } from '../support/browser/plan-looks.ts';
import { reloadAsks } from '../support/browser/reload-asks.ts';
import { stepMs } from '../support/browser/watched-page.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const site = dashboardSite();

const scene = (slug: string) => createEditScene(site, slug);

test('a draft becomes a plan, and the plan one revision with a comment', async () => {
  const { owner, client, path, values } = await scene('draft');
  const { page } = await site.visitAs(owner, path);
  await setKey(page, 'A', 'a2');
  await deleteKey(page, 'B');
  await page.getByRole('button', { name: 'New key' }).click();
  await page.getByLabel('Name', { exact: true }).fill('D');
  await page.getByLabel('Value', { exact: true }).fill('d1');
  expect(await lookAt(page, 'new-key')).toEqual([]);
  await page.getByRole('button', { name: 'Add to the draft' }).click();
  await page.getByText('3 changes not saved').waitFor();
  expect(await lookAt(page, 'draft')).toEqual([]);
  // The draft stays while the user looks at another page of the dashboard.
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.goBack();
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await review(page).getByText('v1 gets a new value').waitFor();
  expect(await review(page).getByRole('list', { name: 'Changes' }).getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/Changed:\s+A\s+v1 gets a new value/),
    expect.stringMatching(/Deleted:\s+B\s+v1 is deleted/),
    expect.stringMatching(/New:\s+D\s+a new key/),
  ]);
  expect(await planLooks(review(page))).toEqual([
    'plan-row plan-set ~ Changed: A',
    'plan-row plan-delete − Deleted: B',
    'plan-row plan-add + New: D',
  ]);
  expect(await lookAt(page, 'review')).toEqual([]);
  expect(await values()).toEqual({ A: 'a1', B: 'b1', C: 'c1' });
  await page.getByLabel('Comment').fill('rotate');
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByText('Saved as revision 2: 2 set, 1 deleted.').waitFor();
  expect(await values()).toEqual({ A: 'a2', C: 'c1', D: 'd1' });
  expect(await page.getByText('not saved').count()).toBe(0);
  const { changes } = await client.expectStatus<{ changes: { comment: string }[] }>(
    200,
    'GET',
    '/changes/draft/shop/production',
  );
  expect(changes[0]).toMatchObject({ revision: 2, comment: 'rotate', changedByName: owner.email });
});

test('a line break at the end of a value is named, and the key leads to the plan of the draft', async () => {
  const { owner, path, values } = await scene('edge');
  const { page } = await site.visitAs(owner, `${path}?key=A`);
  const drawer = page.getByRole('dialog', { name: 'A', exact: true });
  await drawer.getByRole('link', { name: 'See where the values go' }).waitFor();
  await drawer.getByRole('button', { name: 'Change the value' }).click();
  await drawer.locator('textarea:focus').waitFor();
  await page.keyboard.type('a2');
  await page.keyboard.press('Enter');
  await drawer.getByText('The value ends with a line break.').waitFor();
  expect(await lookAt(page, 'value-edge')).toEqual([]);
  await page.keyboard.press('Backspace');
  await drawer.getByText('The value ends with a line break.').waitFor({ state: 'detached' });
  await drawer.getByRole('button', { name: 'Review the draft' }).click();
  await review(page).getByText('v1 gets a new value').waitFor();
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByRole('link', { name: 'See which consumers have it' }).waitFor();
  expect(await values()).toMatchObject({ A: 'a2' });
});

test('nothing of a value is in the draft while what is typed cannot be saved', async () => {
  const { owner, path } = await scene('invalid');
  const { page } = await site.visitAs(owner, `${path}?key=A`);
  const drawer = page.getByRole('dialog', { name: 'A', exact: true });
  await drawer.getByRole('button', { name: 'Change the value' }).click();
  const field = drawer.getByLabel('New value');
  await field.fill('begin');
  await drawer.getByRole('button', { name: 'Review the draft' }).waitFor();
  await field.fill('x'.repeat(256 * 1024 + 1));
  await drawer.getByText('The value must be at most').waitFor();
  expect(await drawer.getByRole('button', { name: 'Review the draft' }).count()).toBe(0);
  expect(await page.getByText('1 change').count()).toBe(0);
  await field.fill('begin and end');
  await drawer.getByRole('button', { name: 'Review the draft' }).waitFor();
});

test('a mask is never saved, and a name that is not allowed is refused at once', async () => {
  const { owner, path, values } = await scene('mask');
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('link', { name: 'A', exact: true }).click();
  await page.getByRole('button', { name: 'Change the value' }).click();
  expect(await page.getByLabel('New value').inputValue()).toBe('');
  // Nothing was typed: nothing is in the draft.
  await page.getByRole('button', { name: 'Close' }).click();
  expect(await page.getByRole('region', { name: 'Draft' }).count()).toBe(0);
  await page.getByRole('button', { name: 'New key' }).click();
  for (const [name, fault] of [
    ['', 'Name the key.'],
    ['a b', 'The name must be'],
    ['A', 'This key exists.'],
  ] as const) {
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Add to the draft' }).click();
    await page.getByRole('alert').getByText(fault).waitFor();
  }
  expect(await values()).toEqual({ A: 'a1', B: 'b1', C: 'c1' });
});

test('a pasted .env shows what it adds, sets and cuts, and its faults by line without values', async () => {
  const { owner, path, values } = await scene('paste');
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  const field = page.getByLabel('Lines of KEY=value');
  await field.fill('A=a9\nthis is t0p-secret');
  const fault = page.getByRole('alert');
  await fault.waitFor();
  expect(await fault.innerText()).toContain('line 2');
  expect(await fault.innerText()).not.toContain('t0p-secret');
  await field.fill('A=a9 # cut by all\nNEW="n$1"\nHASH=h#x');
  await page.getByLabel('Delete the 2 keys that the file does not have').check();
  const found = page.getByRole('dialog').getByRole('status').filter({ hasText: 'Deleted 2' });
  expect(await found.innerText()).toMatch(/New 2\s+NEW\s+HASH\s+Set again 1\s+A\s+Deleted 2\s+B\s+C\s/);
  expect(await found.innerText()).toMatch(/line 2 NEW \$ stands for itself here/);
  expect(await lookAt(page, 'paste')).toEqual([]);
  await page.getByRole('button', { name: 'Add 5 changes to the draft' }).click();
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByText('Saved as revision 2: 3 set, 2 deleted.').waitFor();
  expect(await values()).toEqual({ A: 'a9', NEW: 'n$1', HASH: 'h#x' });
});

test('text that is not in the draft yet stays when a panel is closed by accident, until it is cancelled', async () => {
  const { owner, path } = await scene('accident');
  const { page } = await site.visitAs(owner, path);
  const file = page.getByLabel('Lines of KEY=value');
  const [name, value] = [page.getByLabel('Name', { exact: true }), page.getByLabel('Value', { exact: true })];
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  await file.fill('NEW=n1');
  await page.keyboard.press('Escape');
  await file.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New key' }).click();
  await name.fill('D');
  await value.fill('d1');
  // Beside the panel.
  await page.mouse.click(5, 400);
  await value.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'New key' }).click();
  expect([await name.inputValue(), await value.inputValue()]).toEqual(['D', 'd1']);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  expect(await file.inputValue()).toBe('NEW=n1');
  await page.keyboard.press('Escape');

  expect(await reloadAsks(page)).toBe('beforeunload');
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  await page.getByRole('button', { name: 'Add 1 change to the draft' }).click();
  await page.getByText('1 change not saved').waitFor();
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  expect(await file.inputValue()).toBe('');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  expect([await name.inputValue(), await value.inputValue()]).toEqual(['', '']);
});

test('changes of other users appear by themselves', async () => {
  const { owner, client, path } = await scene('live');
  const { page } = await site.visitAs(owner, path);
  await page.getByText('Revision 1').waitFor();
  await client.expectStatus(201, 'PUT', '/secrets/live/shop/production/LATER', { value: 'x' });
  await page.getByRole('link', { name: 'LATER' }).waitFor();
  await page.getByText('Revision 2').waitFor();
  await client.expectStatus(204, 'DELETE', '/secrets/live/shop/production/A');
  await page.getByRole('link', { name: 'A', exact: true }).waitFor({ state: 'detached' });
  await page.getByText('Revision 3').waitFor();
});

test('a stream that ends is opened again, and has what changed while it was away', async () => {
  const { owner, client, path, secrets } = await scene('away');
  const { page, requests } = await site.visitAs(owner, '/sessions');
  const isStream = (request: Request): boolean =>
    request.url().endsWith('/changes/away/shop/production') && request.headers()['accept'] === 'text/event-stream';
  // The first response is complete at once, with one event: a server that restarts, or a proxy that cuts.
  let opened = 0;
  const mayOpen = Promise.withResolvers<undefined>();
  const { revisionId } = await client.expectStatus<{ revisionId: string }>(200, 'GET', `${secrets}?values=false`);
  await page.route('**/api/v1/changes/away/shop/production', async (route) => {
    if (!isStream(route.request())) return route.fallback();
    opened += 1;
    if (opened > 1) {
      await mayOpen.promise;
      return route.continue();
    }
    const event = `id: ${revisionId}\nevent: revision\ndata: ${JSON.stringify({ revisionId })}\n\n`;
    return route.fulfill({ status: 200, contentType: 'text/event-stream', body: event });
  });
  await page.goto(site.origin + path);
  await page.getByText('Revision 1').waitFor();
  await waitFor('the page to open the stream again', () => opened > 1, { timeoutMs: stepMs });
  // Only the stream reports it: the window has the focus all the time.
  await client.expectStatus(201, 'PUT', `${secrets}/MISSED`, { value: 'x' });
  mayOpen.resolve(undefined);
  await page.getByRole('link', { name: 'MISSED' }).waitFor();
  const sent = requests.filter(isStream).map((request) => request.headers()['last-event-id']);
  expect(sent).toEqual([undefined, revisionId]);
  await client.expectStatus(201, 'PUT', `${secrets}/LATER`, { value: 'x' });
  await page.getByRole('link', { name: 'LATER' }).waitFor();
});

test('two browsers edit at the same time: the later one sees base, theirs and its own, and loses nothing', async () => {
  const { owner, path, values } = await scene('both');
  const other = await createVisitor(site.api, 'bo');
  await enrol(site.api.services, owner, other, { organization: 'both', role: 'developer' });
  const first = (await site.visitAs(owner, path)).page;
  const second = (await site.visitAs(other, path)).page;
  // The later one does not hear of the change before it commits.
  await second.route('**/api/v1/changes/**', (route) => route.abort());
  await second.reload();
  await setKey(second, 'A', 'a-theirs-not');
  await setKey(second, 'B', 'b-second');
  await setKey(first, 'A', 'a-first');
  await first.getByRole('button', { name: 'Review', exact: true }).click();
  await first.getByRole('button', { name: 'Commit' }).click();
  await first.getByText('Saved as revision 2').waitFor();

  await second.getByRole('button', { name: 'Review', exact: true }).click();
  await second.getByRole('button', { name: 'Commit' }).click();
  await second.getByText('Nothing was saved, and your draft is complete.').waitFor();
  expect(await values()).toEqual({ A: 'a-first', B: 'b1', C: 'c1' });
  await second.getByRole('button', { name: 'Show values' }).click();
  await second.getByText('a-first').waitFor();
  await second.getByText('a1', { exact: true }).waitFor();
  const sides = second.getByRole('list', { name: 'Changes' }).getByRole('listitem').first();
  expect(await sides.innerText()).toMatch(/When you began v1\s+a1\s+Theirs v2\s+a-first\s+Yours\s+a-theirs-not/);
  expect(await lookAt(second, 'conflict')).toEqual([]);
  // Undecided, it cannot be saved.
  expect(await second.getByRole('button', { name: 'Commit' }).getAttribute('aria-disabled')).toBe('true');
  await second.getByRole('button', { name: 'Keep yours: A' }).click();
  await second.getByRole('button', { name: 'Commit' }).click();
  await second.getByText('Saved as revision 3: 2 set.').waitFor();
  expect(await values()).toEqual({ A: 'a-theirs-not', B: 'b-second', C: 'c1' });
});

test('a conflict shows before the commit too, and taking theirs leaves the key alone', async () => {
  const { owner, client, path, values } = await scene('early');
  const { page } = await site.visitAs(owner, path);
  await setKey(page, 'A', 'mine');
  await deleteKey(page, 'B');
  await client.expectStatus(200, 'PATCH', '/secrets/early/shop/production', { set: { A: 'theirs' }, delete: ['B'] });
  await page.getByText('1 conflict').waitFor();
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.getByRole('button', { name: 'Take theirs: A' }).click();
  await page.getByText('Nothing is left to change.').waitFor();
  expect(await values()).toEqual({ A: 'theirs', C: 'c1' });
});

test('a selection that is dragged out of a field does not close the panel', async () => {
  const { owner, path } = await scene('drag');
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('button', { name: 'Paste a .env' }).click();
  const field = page.getByLabel('Lines of KEY=value');
  await field.fill('A=typed');
  const box = await field.boundingBox();
  if (box === null) throw new Error('the field is not on the page');
  await page.mouse.move(box.x + 40, box.y + 15);
  await page.mouse.down();
  await page.mouse.move(20, box.y + 15, { steps: 4 });
  await page.mouse.up();
  expect(await field.inputValue()).toBe('A=typed');
  await page.mouse.click(20, box.y + 15);
  await field.waitFor({ state: 'detached' });
});

test('the history has a commit at once, also without the stream', async () => {
  const { owner, path } = await scene('stale');
  const { page } = await site.visitAs(owner, `${path}/history`);
  await page.route('**/api/v1/changes/**', (route) =>
    route.request().headers()['accept'] === 'text/event-stream' ? route.abort() : route.continue(),
  );
  await page.reload();
  await page.getByRole('link', { name: 'Revision 1' }).waitFor();
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await setKey(page, 'A', 'a2');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await page.getByRole('button', { name: 'Commit' }).click();
  await page.getByText('Saved as revision 2').waitFor();
  await page.getByRole('link', { name: 'History', exact: true }).click();
  await page.getByRole('link', { name: 'Revision 2' }).waitFor();
  expect(await page.getByRole('link', { name: /^Revision/ }).count()).toBe(2);
});
