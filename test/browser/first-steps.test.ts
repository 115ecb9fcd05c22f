import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { parseAllDocuments } from 'yaml';
import { buildCli } from '../../tools/build/cli.ts';
import { copiedBy } from '../support/browser/copied.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';

const resources = new AsyncDisposableStack();
const site = dashboardSite(async () => ({ app: { commandFile: await buildCli() } }));

afterAll(() => resources.disposeAsync());

/** Copies a command as a user does, and returns what is on the clipboard. */
function copied(page: Page, name: string): Promise<string> {
  return copiedBy(page, page.getByRole('button', { name: `Copy: ${name}` }));
}

test('the copied commands do what they say, from the download to the first secret', async () => {
  const admin = await createVisitor(site.api, 'ann', { instanceAdmin: true });
  const { page } = await site.visitAs(admin, '/');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-first-steps-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  const signIn = await copied(page, 'Sign in with it');
  const script = [
    await copied(page, 'Get the command'),
    // In place of the prompt.
    `${signIn} --token - <<< ${admin.token.reveal()}`,
    await copied(page, 'Store a secret'),
    './keyframe get GREETING -o acme -p web -e production',
  ].join('\n');
  const env = { PATH: [dirname(process.execPath), process.env['PATH'] ?? ''].join(':'), HOME: folder };
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, env });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('hello');

  // The organization of the manifests is that of the user.
  await page.goto(`${site.origin}/get-started`);
  await page.getByRole('heading', { name: 'Connect a cluster' }).waitFor();
  const [, manifests = ''] = /<<'EOF'\n([^]*)\nEOF$/.exec(await copied(page, 'Connect a cluster')) ?? [];
  const [grant, sync] = parseAllDocuments(manifests).map((document) => document.toJS() as Record<string, unknown>);
  expect(grant).toMatchObject({
    kind: 'AccessGrant',
    spec: { rules: [{ organization: 'acme', project: 'web', environments: ['production'] }] },
  });
  expect(sync).toMatchObject({
    kind: 'SecretSync',
    spec: { environmentRef: { organization: 'acme', project: 'web', name: 'production' } },
  });
});

test('a user without a role in an organization learns whom to ask', async () => {
  const { page } = await site.visitAs(await createVisitor(site.api, 'bo'), '/');
  await page.getByText('You have no role in an organization yet.').waitFor();
  expect(await page.getByText('org create').count()).toBe(0);
});
