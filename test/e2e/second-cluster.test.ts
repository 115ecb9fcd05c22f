/** @default A second cluster works over HTTPS within the rules of the organization, and knows no database and no root key. */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { connectOverHttps } from '../../src/agent/backend.ts';
import type { Backend } from '../../src/controller/backend/backend.ts';
import type { Asker } from '../../src/domain/asker.ts';
import type { GrantedKindName } from '../../src/domain/kinds.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { openDatabase } from '../../src/store/database.ts';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { runTool } from '../../tools/devcluster/cluster/run-tool.ts';
import { Api } from '../../tools/start/api.ts';
import { registerCluster } from '../../tools/start/remote-cluster.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { type ControllerPort, makeControllerPort } from '../support/cluster/controller-port.ts';
import { RemoteCluster, type RemoteSync } from '../support/cluster/remote-cluster.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { newHomeToken } from '../support/database/cluster-credentials.ts';
import { holdingsOf, type ProcessHoldings } from '../support/faults/process-holdings.ts';
import { Canary } from '../support/fixtures/canary.ts';
import { etcdKeys } from '../support/fixtures/leak-places-cluster.ts';
import { findLeaks } from '../support/fixtures/leak-search.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const [homeName, remoteName] = ['home', 'fra-1'];
let stack: Stack;
let cli: CliRunner;
let port: ControllerPort;
let remote: RemoteCluster;
/** Of the home cluster, and of the remote one, for the same environment. */
let ours: TokenSync;
let theirs: RemoteSync;
let homeTokenFile: string;

beforeAll(async () => {
  port = await makeControllerPort(resources);
  stack = await Stack.start(resources, { namespaces: 2, apiEnv: port.env });
  cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
  await stack.startController({ env: { CLUSTER_NAME: homeName } });
  remote = await RemoteCluster.start(resources, { name: remoteName, port, cli });
  homeTokenFile = join(cli.folder, 'home-token');
  const database = openDatabase({ url: stack.databaseUrl, poolSize: 2 });
  writeFileSync(homeTokenFile, await newHomeToken(database.pool));
  await database.close();
  ours = await TokenSync.make(stack, { kinds: ['SecretSync', 'ServiceToken'] });
  await rule('allow');
  await ours.create();
  theirs = await remote.sync('app', ours.site.environment);
  await change();
});

afterAll(() => resources.disposeAsync());

/** What an organization says of the remote cluster, for the environment of the SecretSyncs unless another one is given. */
async function rule(command: 'allow' | 'deny', environment = ours.site.environment): Promise<void> {
  const { organization, project, name } = environment.ref;
  await cli.output(['cluster', command, remoteName, '--yes', '-o', organization, '-p', project, '-e', name]);
}

type Values = Readonly<Record<string, string>>;

/** Changes the environment, and waits for the Secret of the home cluster. */
async function changeAtHome(): Promise<Values> {
  const values = { A: randomUUID() };
  await ours.site.environment.change(values);
  await ours.waitForValues(values);
  return values;
}

/** Changes the environment, and waits for the Secrets of both clusters. */
async function change(): Promise<Values> {
  const values = await changeAtHome();
  await waitForTheirs(values);
  return values;
}

async function waitForTheirs(values: Values, sync = theirs): Promise<void> {
  const look = async (): Promise<boolean> => {
    expect(await sync.values()).toEqual(values);
    return true;
  };
  // Long before the comparison without an event.
  await waitFor(`the Secret ${sync.name} of the remote cluster`, look, { timeoutMs: 25_000 });
}

test('a remote cluster gets nothing until the organization allows it', async () => {
  const environment = await stack.admin.makeEnvironment();
  await environment.change({ B: 'beta' });
  const sync = await remote.sync('later', environment);
  const { status } = await sync.syncs.waitForReason('later', 'ClusterNotAllowed');
  expect(JSON.stringify(status)).toContain(`keyframe cluster allow ${remoteName}`);
  expect(await sync.values()).toBeUndefined();
  await rule('allow', environment);
  await waitForTheirs({ B: 'beta' }, sync);
});

test('a change reaches the Secrets of both clusters', async () => {
  const values = [await change(), await change()];
  expect([await ours.values(), await theirs.values()]).toEqual([values[1], values[1]]);
});

test('the keys of the home cluster reach the server from its API server', async () => {
  const signed = await waitFor('the issuer of the home cluster', async () => {
    const sql = 'SELECT iss, keys FROM trusted_issuer WHERE cluster = $1';
    const [row] = await query<{ iss: string; keys: JSONWebKeySet }>(stack.databaseUrl, sql, [homeName]);
    return row;
  });
  const token = await requestToken(stack.kube, { namespace: 'default', name: 'default', seconds: 600 });
  const { payload } = await jwtVerify(token, createLocalJWKSet(signed.keys), { issuer: signed.iss });
  expect(payload.sub).toBe('system:serviceaccount:default:default');
});

test('registering the cluster again as it is changes nothing', async () => {
  const api = new Api(stack.api.url, stack.adminToken);
  await registerCluster(api, remote.kube, remoteName);
  const shown = await cli.json(['cluster', 'show', remoteName, '--all']);
  expect(shown).toMatchObject({ isHome: false, registration: { generation: 1, version: 1 } });
});

test('narrowed and widened rules act on the remote cluster only', async () => {
  const before = await change();
  await rule('deny');
  await theirs.syncs.waitForReason('app', 'ClusterNotAllowed');
  const after = await changeAtHome();
  expect(await theirs.values()).toEqual(before);
  await rule('allow');
  await waitForTheirs(after);
});

test('a cluster that is disabled keeps its Secrets and says so, and follows once it is enabled', async () => {
  const before = await change();
  await cli.output(['cluster', 'disable', remoteName, '--yes']);
  await theirs.syncs.waitForReason('app', 'ClusterDisabled');
  const after = await changeAtHome();
  // No SecretSync of the cluster is in step now that could show that time has passed.
  await pause(1_000);
  expect(await theirs.values()).toEqual(before);
  await cli.output(['cluster', 'enable', remoteName]);
  await waitForTheirs(after);
  await theirs.syncs.waitForReason('app', 'Synced');
});

describe('what users see of both clusters', () => {
  const place = (): readonly string[] => {
    const { organization, project, name } = ours.site.environment.ref;
    return ['-o', organization, '-p', project, '-e', name];
  };

  test('`wait --converged` ends when the Secrets of both have the revision', async () => {
    const values = { A: randomUUID() };
    const { revision } = await ours.site.environment.change(values);
    const args = ['wait', '--converged', '--revision', String(revision), ...place(), '--within', '60s'];
    expect(await cli.json(args)).toMatchObject({ revision, consumers: { reached: 2, exempt: [] } });
    expect([await ours.values(), await theirs.values()]).toEqual([values, values]);
  });

  test('while the remote controller stands still, the wait names its SecretSync, which the consumers show as behind', async () => {
    using suspension = new DisposableStack();
    suspension.defer(() => remote.controller.resume());
    remote.controller.suspend();
    const values = { A: randomUUID() };
    const { revision } = await ours.site.environment.change(values);
    const { code, stderr } = await cli.run(['wait', '--converged', ...place(), '--within', '8s']);
    expect(code).toBe(9);
    expect(stderr).toContain('Only 1 of 2 consumers have reached revision');
    expect(stderr).toContain(`SecretSync default/app in cluster ${remoteName}: the Secret holds revision`);
    expect(stderr).not.toContain(`in cluster ${homeName}: the Secret holds`);
    type Listed = { readonly consumers: readonly { readonly cluster: string; readonly syncedRevision: number }[] };
    const { consumers } = await cli.json<Listed>(['consumers', ...place()]);
    const held = Object.fromEntries(consumers.map(({ cluster, syncedRevision }) => [cluster, syncedRevision]));
    expect(held).toEqual({ [homeName]: revision, [remoteName]: revision - 1 });
    suspension.dispose();
    await waitForTheirs(values);
  });
});

describe('a stolen token of a controller', () => {
  /** As the thief of a token works, who claims to be a cluster. */
  function thief(tokenFile: string, cluster: string): Backend {
    const address = { url: `https://localhost:${port.port}`, caFile: port.caFile, tokenFile };
    const { connect } = connectOverHttps({ ...address, clock: systemClock, logger: createLogger('silent') });
    return connect(() => cluster);
  }

  /** A resource of some cluster, for which the thief invents grants for everything. */
  function invented<K extends GrantedKindName>(
    kind: K,
    of: { namespace: string; name: string; uid: string },
  ): Asker<K> {
    const { organization } = ours.site.environment.ref;
    const all = { organization, project: '*', environments: ['*'], permission: 'read_write', kinds: [kind] } as const;
    return { kind, ...of, requestId: randomUUID(), grants: [all], ownGrant: undefined };
  }

  test('of the remote cluster is no token of the home cluster, nor the other way round', async () => {
    for (const [file, name] of [[remote.tokenFile, homeName] as const, [homeTokenFile, remoteName] as const]) {
      const asked = thief(file, name).cluster.hello({
        uid: randomUUID(),
        isLeading: false,
        kinds: [],
        issuer: undefined,
      });
      await expect(asked).rejects.toMatchObject({ code: expect.stringMatching(/^(cluster_unknown|unauthenticated)$/) });
    }
  });

  test('works on no other route', async () => {
    for (const file of [remote.tokenFile, homeTokenFile]) {
      const stolen = stack.admin.as(readFileSync(file, 'utf8'));
      for (const path of [ours.site.environment.path, '/me', '/clusters', '/organizations']) {
        expect(await stolen.send('GET', path)).toMatchObject({ status: 401 });
      }
    }
  });

  test('gets and ends no service token of the other cluster by its uid', async () => {
    await ours.site.create();
    const token = await ours.site.waitForSerial(1);
    const { uid } = (await ours.site.resource()).metadata;
    const { namespace, environment } = ours.site;
    const { tokens } = thief(remote.tokenFile, remoteName);
    const asker = invented('ServiceToken', { namespace, name: 'ci', uid });
    const { organization, project, name } = environment.ref;
    const place = { organization, project, environment: name, permission: 'read' } as const;
    expect(await tokens.find(asker)).toBeUndefined();
    expect(await tokens.live({ namespaces: [namespace], after: null })).toMatchObject({ tokens: [] });
    const input = { name: 'stolen', serial: 1, expiresAt: null };
    await expect(tokens.mint(asker, place, input)).rejects.toMatchObject({ code: 'cluster_not_allowed' });
    await tokens.suspend(asker, 'grant_gone');
    await tokens.revoke(asker);
    expect(await ours.site.answer(token)).toBe(200);
  });

  test('gets no snapshot, and no environment that is not allowed, by their ids', async () => {
    const other = await stack.admin.makeEnvironment();
    await other.change({ B: 'secret' });
    const snapshots = other.path.replace('/secrets/', '/snapshots/');
    const { id } = await stack.admin.call<{ id: string }>('POST', snapshots, { name: 'before' });
    const own = { namespace: 'default', name: 'app', uid: randomUUID() };
    const backend = thief(remote.tokenFile, remoteName);
    const denied = { code: expect.stringMatching(/^(cluster_not_allowed|not_found|forbidden)$/) };
    await expect(backend.snapshots.adopt(invented('SecretSnapshot', own), id)).rejects.toMatchObject(denied);
    const source = { snapshotId: id, secretSnapshotUid: null };
    await expect(backend.restores.admit(invented('SnapshotRestore', own), source)).rejects.toMatchObject(denied);
    const asker = invented('SecretSync', own);
    const { organization, project, name } = other.ref;
    const slugs = { organization, project, environment: name };
    const asked = { name: undefined, slugs, credential: 'keyless', state: 'newest', recordedId: other.id } as const;
    const answer = await backend.sources.read({ asker, sources: [asked], maxKeys: 10 });
    expect(answer.refusal?.error).toMatchObject(denied);
    expect(JSON.stringify(answer.sources)).not.toContain(other.id);
  });

  test('reads no values by the id of a keyless token of the other cluster', async () => {
    const { environment, namespace } = ours.site;
    await change();
    await rule('deny');
    await theirs.syncs.waitForReason('app', 'ClusterNotAllowed');
    const sql = 'SELECT id FROM service_token WHERE environment_id = $1 AND cluster = $2 AND namespace = $3';
    const [token] = await query<{ id: string }>(stack.databaseUrl, sql, [environment.id, homeName, namespace]);
    const values = { A: randomUUID() };
    const { revision, revisionId } = await environment.change(values);
    const asker = invented('SecretSync', { namespace, name: 'app', uid: randomUUID() });
    const { organization, project, name } = environment.ref;
    const slugs = { organization, project, environment: name };
    const own = { name: undefined, slugs, credential: 'keyless', environmentId: environment.id } as const;
    const source = { ...own, asker, tokenId: token?.id ?? 'none' };
    const state = { environmentId: environment.id, revision, revisionId, keyCount: 1 };
    const asked = thief(remote.tokenFile, remoteName).sources.values({ source, state, keys: ['A'] });
    await expect(asked).rejects.toMatchObject({ code: 'cluster_not_allowed' });
    expect(source.tokenId).not.toBe('none');
    await rule('allow');
    await waitForTheirs(values);
  });
});

describe('what the remote cluster has of the server', () => {
  /** The database's address and password, and the root key. */
  function secrets(): readonly string[] {
    return [stack.rootKey, new URL(stack.databaseUrl).password];
  }

  function databasePort(): number {
    return Number(new URL(stack.databaseUrl).port);
  }

  function tracesIn({ environment, files }: ProcessHoldings): number {
    return secrets().flatMap((secret) => new Canary(secret).traces(Buffer.concat([environment, files]))).length;
  }

  test('its controller holds no database address, no root key and no connection to PostgreSQL', () => {
    const holdings = holdingsOf(remote.controller.captured.pid);
    expect(tracesIn(holdings)).toBe(0);
    expect(holdings.environment.toString()).not.toMatch(/DATABASE|ROOT_KEY|postgres/i);
    expect(holdings.remotePorts).toContain(port.port);
    expect(holdings.remotePorts).not.toContain(databasePort());
  });

  test('the same search finds them in the server', () => {
    const holdings = holdingsOf(stack.api.captured.pid);
    expect(tracesIn(holdings)).toBeGreaterThan(0);
    expect(holdings.remotePorts).toContain(databasePort());
  });

  test('neither they nor its own token are in its etcd', async () => {
    const { kube, cluster, tokenFile } = remote;
    const place = etcdKeys(join(cluster.runFolder, 'etcd.sock'), { kube, namespace: 'default', exempt: () => [] });
    for (const secret of [...secrets(), readFileSync(tokenFile, 'utf8')]) {
      expect(await findLeaks(new Canary(secret), [place])).toEqual([]);
    }
  });

  test('it has a route to the port of controllers, and none to PostgreSQL', async () => {
    const { network } = remote;
    // Only root can give it a network of its own.
    if (network === undefined) return;
    const script = `const socket = require('node:net').connect(Number(process.argv[2]), process.argv[1]);
      socket.on('connect', () => process.exit(0)).on('error', () => process.exit(7));`;
    const reach = async (address: string, to: number): Promise<boolean> => {
      const args = ['-e', script, address, String(to)];
      const command = network.command({ program: process.execPath, args });
      return await runTool(command.program, command.args).then(
        () => true,
        () => false,
      );
    };
    expect(await reach(network.machineAddress, port.port)).toBe(true);
    for (const address of ['127.0.0.1', network.machineAddress])
      expect(await reach(address, databasePort())).toBe(false);
  });
});
