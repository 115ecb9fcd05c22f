import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { auditedReads, keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { conditionsOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { alpha, syncsOnly, TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** What ends a keyless token: a person's revocation, which persists. */

const resources = new AsyncDisposableStack();
// For a change that only has to be noticed.
const soon = { timeoutMs: 25_000 };
let cluster: Cluster;
let stack: Stack;
let cli: CliRunner;

beforeAll(async () => {
  // Of its own, for a controller with rights in namespaces that are made again.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 2, adminKubeconfig: cluster.kubeconfig });
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  await stack.startController({ kubeconfigFile, env: { NAMESPACE: 'keyframe' } });
  cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
});

afterAll(() => resources.disposeAsync());

async function tokenIdOf({ site }: TokenSync): Promise<string> {
  return (await keylessTokensOf(stack.admin, site))[0]?.id ?? '';
}

/** Revokes the keyless token as a person does; returns the command that the SecretSync then names. */
async function revoke(sync: TokenSync): Promise<string> {
  const { organization } = sync.site.environment.ref;
  await cli.output(['token', 'revoke-service', '--yes', '-o', organization, '--id', await tokenIdOf(sync)]);
  return await commandOf(sync);
}

async function commandOf(sync: TokenSync): Promise<string> {
  const message = await sync.waitForReason('TokenRevoked');
  return /`(keyframe token reinstate [^`]+)`/.exec(message)?.[1] ?? '';
}

async function run(command: string): Promise<void> {
  const { code, stderr } = await cli.bash(command);
  expect({ command, code, stderr }).toMatchObject({ code: 0 });
}

describe('a keyless token that a person revokes', () => {
  test('bars the SecretSync, which keeps its Secret and stalls, until the command that it names is run', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { environment } = sync.site;
    const command = await revoke(sync);
    await environment.change({ A: 'unseen' });
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    expect(conditionsOf(await sync.syncs.get('app'))).toContain('Reconciling True');
    await waitFor('it to stall', async () => conditionsOf(await sync.syncs.get('app')).includes('Stalled True'));
    expect(await commandOf(sync)).toBe(command);
    const refused = (await auditedReads(stack.admin, environment)).filter(({ outcome }) => outcome !== 'success');
    expect(refused).toMatchObject([{ outcome: 'denied', label: '[Service Token]' }]);
    await run(command);
    await waitFor('the Secret to follow', async () => (await sync.values())?.['A'] === 'unseen', soon);
    await sync.waitForReason('Synced');
    const actions = await auditedActions(sync);
    expect(actions).toContain('service_token.revoke');
    expect(actions).toContain('service_token.reinstate');
  });
});

async function auditedActions({ site: { environment } }: TokenSync): Promise<string[]> {
  const path = `/audit/${environment.ref.organization}?action=service_token.&limit=200`;
  const { entries } = await stack.admin.call<{ entries: { action: string }[] }>('GET', path);
  return entries.map(({ action }) => action);
}
