/** An organization narrows and widens what the cluster may do, and an instance admin disables and enables it. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CliRunner } from '../support/cli/cli.ts';
import { Stack } from '../support/cluster/stack.ts';
import { alpha, syncsOnly, TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
// Long before the comparison without an event.
const soon = { timeoutMs: 25_000 };
let stack: Stack;
let cli: CliRunner;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
  cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
});

afterAll(() => resources.disposeAsync());

async function clusterOf({ site }: TokenSync): Promise<string> {
  const { organization } = site.environment.ref;
  const names = await cli.output(['cluster', 'list', '-o', organization, '--output', 'name']);
  return names.trim();
}

test('a SecretSync follows the rules of its organization and the state of its cluster, and keeps its Secret', async () => {
  const [ruled, free] = [await TokenSync.makeSynced(stack, syncsOnly), await TokenSync.makeSynced(stack, syncsOnly)];
  const { organization } = ruled.site.environment.ref;
  const cluster = await clusterOf(ruled);
  await cli.output(['cluster', 'allow', cluster, '--yes', '-o', organization, '-p', 'other', '-e', 'other']);
  const message = await ruled.waitForReason('ClusterNotAllowed');
  await ruled.site.environment.change({ A: 'unseen' });
  await ruled.expectStays(async () => expect(await ruled.values()).toEqual(alpha));
  expect(await free.values()).toEqual(alpha);
  const command = /`(keyframe cluster allow [^`]+)`/.exec(message)?.[1] ?? '';
  expect(await cli.bash(command)).toMatchObject({ code: 0 });
  await waitFor('the Secret to follow', async () => (await ruled.values())?.['A'] === 'unseen', soon);
  await ruled.waitForReason('Synced');

  await cli.output(['cluster', 'disable', cluster, '--yes']);
  for (const sync of [ruled, free]) await sync.waitForReason('ClusterDisabled');
  await free.site.environment.change({ A: 'later' });
  // No SecretSync is in step now that could show that time has passed.
  await pause(1_000);
  expect(await free.values()).toEqual(alpha);
  await cli.output(['cluster', 'enable', cluster]);
  await waitFor('the Secret to follow', async () => (await free.values())?.['A'] === 'later', soon);
});
