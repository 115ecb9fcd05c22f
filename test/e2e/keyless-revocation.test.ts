import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { createNamespace } from '../support/cluster/cluster.ts';
import { auditedReads, keylessTokensOf } from '../support/cluster/keyless-tokens.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { conditionsOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** What ends a keyless token: a person's revocation, which persists, and the purge of its environment. */

const resources = new AsyncDisposableStack();
const alpha = { A: 'alpha' };
// For a change that only has to be noticed.
const soon = { timeoutMs: 25_000 };
let cluster: Cluster;
let stack: Stack;
let cli: CliRunner;

beforeAll(async () => {
  // Of its own, for a controller with rights in namespaces that are made again.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 8, adminKubeconfig: cluster.kubeconfig });
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  await stack.startController({ kubeconfigFile, env: { NAMESPACE: 'keyframe' } });
  cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
});

afterAll(() => resources.disposeAsync());

async function makeSynced(): Promise<TokenSync> {
  const sync = await TokenSync.make(stack, { kinds: ['SecretSync'] });
  await sync.create();
  await sync.waitForValues(alpha);
  return sync;
}

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
    const sync = await makeSynced();
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

  test('bars every SecretSync of the namespace, and none of another one', async () => {
    const [sync, other] = [await makeSynced(), await makeSynced()];
    const { environment } = sync.site;
    await other.patchGrant([
      { ...ruleOf(other), kinds: ['SecretSync'] },
      { ...ruleOf(sync), kinds: ['SecretSync'] },
    ]);
    await other.syncs.create({ environmentRef: environment.ref }, 'shared');
    await other.syncs.waitForReason('shared', 'Synced');
    const command = await revoke(sync);
    await sync.syncs.create({ environmentRef: environment.ref }, 'second');
    await sync.syncs.waitForReason('second', 'TokenRevoked');
    await environment.change({ A: 'next' });
    await waitFor('the other namespace to follow', async () => {
      const secret = await other.site.secret('shared');
      return secret?.data?.['A'] === btoa('next');
    });
    expect(await sync.values()).toEqual(alpha);
    await run(command);
    await sync.waitForValues({ A: 'next' });
    await sync.syncs.waitForReason('second', 'Synced');
  });

  test('stays revoked when SecretSync, AccessGrant and namespace are deleted and made again', async () => {
    const sync = await makeSynced();
    const command = await revoke(sync);
    await sync.syncs.delete('app');
    await sync.syncs.waitUntilGone('app');
    await sync.create();
    expect(await commandOf(sync)).toBe(command);
    await sync.site.withdraw();
    await sync.waitForReason('AccessDenied');
    await sync.site.grant();
    expect(await commandOf(sync)).toBe(command);
    await sync.site.deleteNamespace();
    await createNamespace(stack.kube, sync.site.namespace);
    await sync.create();
    expect(await commandOf(sync)).toBe(command);
    expect(await sync.values()).toBeUndefined();
    await run(command);
    await sync.waitForValues(alpha);
    expect(await keylessTokensOf(stack.admin, sync.site)).toHaveLength(1);
  });

  test('in the middle of a reconcile lets nothing be written that was read after it', async () => {
    const sync = await makeSynced();
    for (let round = 0; round < 5; round += 1) {
      const [, command] = await Promise.all([sync.site.environment.change({ A: `round ${round}` }), revoke(sync)]);
      await sync.site.environment.change({ A: `barred ${round}` });
      await sync.expectStays(async () => expect(await sync.values()).not.toEqual({ A: `barred ${round}` }));
      await run(command);
      await sync.waitForValues({ A: `barred ${round}` });
    }
  });
});

function ruleOf({ site: { environment } }: TokenSync): object {
  const { organization, project, name } = environment.ref;
  return { organization, project, environments: [name] };
}

async function auditedActions({ site: { environment } }: TokenSync): Promise<string[]> {
  const path = `/audit/${environment.ref.organization}?action=service_token.&limit=200`;
  const { entries } = await stack.admin.call<{ entries: { action: string }[] }>('GET', path);
  return entries.map(({ action }) => action);
}

describe('an environment that is purged', () => {
  test('takes the keyless token along, and another one in its place is not read without consent', async () => {
    const sync = await makeSynced();
    const { organization, project, name } = sync.site.environment.ref;
    const before = await tokenIdOf(sync);
    const path = `/environments/${organization}/${project}`;
    await stack.admin.call('DELETE', `${path}/${name}`);
    await sync.waitForReason('NotFound');
    expect(await rowsOf(sync)).toEqual([before]);
    await stack.admin.call('POST', `${path}/${name}/purge`);
    expect(await rowsOf(sync)).toEqual([]);

    await stack.admin.call('POST', path, { slug: name });
    await stack.admin.call('PATCH', sync.site.environment.path, { set: { A: 'of another' } });
    const message = await sync.waitForReason('SourceReplaced');
    await sync.expectStays(async () => expect(await sync.values()).toEqual(alpha));
    expect(await rowsOf(sync)).toEqual([]);
    const command = /`(kubectl annotate [^`]+)`/.exec(message)?.[1] ?? '';
    await runKubectl(cluster, command.split(' ').slice(1));
    await sync.waitForValues({ A: 'of another' });
    expect(await rowsOf(sync)).toHaveLength(1);
    expect(await rowsOf(sync)).not.toContain(before);
  });
});

/** The ids of the namespace's keyless tokens in the database, whatever became of them. */
async function rowsOf({ site: { namespace } }: TokenSync): Promise<string[]> {
  const text = 'SELECT id FROM service_token WHERE namespace = $1';
  return (await query<{ id: string }>(stack.databaseUrl, text, [namespace])).map(({ id }) => id);
}
