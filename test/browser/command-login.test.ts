import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildCli } from '../../tools/build/cli.ts';
import type { TestUser } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import { prismaOf } from '../support/database/prisma.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const site = dashboardSite();
let ann: TestUser;
let program: string;
let home: string;

beforeAll(async () => {
  program = await buildCli();
  ann = await createVisitor(site.api, 'ann');
  home = mkdtempSync(join(tmpdir(), 'keyframe-login-'));
  resources.defer(() => rmSync(home, { recursive: true, force: true }));
});
afterAll(() => resources.disposeAsync());

/** Starting a program takes longer than a step of a page if the machine is busy. */
const programStartMs = 30_000;

/** `keyframe login`, which waits for a browser. */
function login(option: '--browser' | '--device'): CapturedProcess {
  // `true` opens no page: the test does.
  const env = { HOME: home, PATH: process.env['PATH'] ?? '', BROWSER: 'true' };
  const args = [program, 'login', '--url', site.origin, option];
  const command = new CapturedProcess({ name: 'login', program: process.execPath, args, env });
  resources.defer(async () => void (await command.end('SIGKILL')));
  return command;
}

function printed(command: CapturedProcess, pattern: RegExp): Promise<string> {
  return waitFor(String(pattern), () => pattern.exec(command.output.toString())?.[1], { timeoutMs: programStartMs });
}

/** The last sign-in of the user is long ago. */
async function makeOld(user: TestUser): Promise<void> {
  const prisma = prismaOf(site.api.services.database);
  const verifiedAt = new Date(Date.now() - 10 * 60_000);
  await prisma.session.updateMany({ where: { userId: user.id }, data: { verifiedAt } });
}

describe('keyframe login', () => {
  test('opens a page in which the user signs in, approves, and signs in once more if that was long ago', async () => {
    const command = login('--browser');
    const url = await printed(command, /(http:\S+\/login\?\S+)/);
    const { page } = await site.visit(url.slice(site.origin.length));
    await page.getByLabel('Personal token').fill(ann.token.reveal());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in the command' }).waitFor();
    expect(page.url()).toBe(url);
    expect(await lookAt(page, 'login')).toEqual([]);
    await makeOld(ann);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await page.getByLabel('Personal token').fill(ann.token.reveal());
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('You are signed in. You can close this page.').waitFor();
    expect(await command.ended).toMatchObject({ code: 0 });
    expect(command.output.toString()).toContain('ann@example.com');
  });

  test('--device shows a code, which the user types into a page', async () => {
    const command = login('--device');
    const code = await printed(command, /type the code (\S+)/);
    const { page } = await site.visitAs(ann, '/device');
    await page.getByLabel('Code').fill('ABCD-EFGH');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await lookAt(page, 'device')).toEqual([]);
    await page.getByLabel('Code').fill(code.toLowerCase());
    await page.keyboard.press('Enter');
    await page.getByText('127.0.0.1', { exact: true }).waitFor();
    expect(await lookAt(page, 'device-found')).toEqual([]);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('Approved.').waitFor();
    expect(await command.ended).toMatchObject({ code: 0 });
  });
});

test.each(['', '?port=80', '?port=99999&challenge=a&state=b'])('/login%s is refused', async (search) => {
  const { page } = await site.visitAs(ann, `/login${search}`);
  await page.getByText('This address is not complete.').waitFor();
  expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
});
