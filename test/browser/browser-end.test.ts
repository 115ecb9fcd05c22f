import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const script = `
import { startBrowser } from ${JSON.stringify(join(checkoutDirectory, 'test/support/browser/browser.ts'))};
const resources = new AsyncDisposableStack();
const browser = await startBrowser(resources);
await (await browser.newContext()).newPage();
console.log('started');
process.once('SIGUSR2', () => void resources.disposeAsync().then(() => process.exit()));
`;

test.each([
  ['its resources are disposed of', 'SIGUSR2'],
  ['its process is asked to end', 'SIGTERM'],
  ['its process is killed', 'SIGKILL'],
] as const)('a browser and its files are gone after %s', async (_end, signal) => {
  const env = process.env as Record<string, string>;
  const args = ['--input-type=module', '--eval', script];
  await using resources = new AsyncDisposableStack();
  const starter = new CapturedProcess({ name: 'starter', program: process.execPath, args, env });
  resources.defer(async () => void (await starter.end('SIGKILL')));
  const parent = starter.pid;
  const folder = await waitFor('the browser', () => {
    if (!starter.isRunning) throw new Error(starter.output.toString());
    return starter.output.includes('started') && folderOf(parent);
  });
  expect(existsSync(folder)).toBe(true);
  expect(await starter.end(signal)).not.toMatchObject({ code: 1 });
  await waitFor('the end of the browser', () => processesWith(folder).length === 0);
  expect(existsSync(folder)).toBe(false);
});

/** The folder of the browser that a process has started. */
function folderOf(parent: number): string | undefined {
  const children = processes().filter(({ status }) => status.includes(`\nPPid:\t${parent}\n`));
  const folders = children.map(({ command }) => /--user-data-dir=([^\0]*)\/profile/.exec(command)?.[1]);
  return folders.find((folder) => folder !== undefined);
}

function processesWith(text: string): readonly unknown[] {
  return processes().filter(({ command }) => command.includes(text));
}

/** The processes of the machine; those that end meanwhile are left out. */
function processes(): readonly { readonly command: string; readonly status: string }[] {
  return globSync('/proc/[0-9]*').flatMap((folder) => {
    try {
      const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
      return [{ command: read('cmdline'), status: read('status') }];
    } catch {
      return [];
    }
  });
}
