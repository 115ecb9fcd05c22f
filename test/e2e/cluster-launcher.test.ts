import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { missingPackages, nodeFault } from '../../tools/devcluster/cluster/node/node-fault.ts';
import { findPublished } from '../../tools/devcluster/cluster/published-cluster.ts';
import { CapturedProcess } from '../support/faults/captured-process.ts';
import {
  builtBinaries,
  buildPatienceMs,
  ClusterCache,
  clusterUid,
  countRunning,
  processesOf,
  writeScript,
} from '../support/cluster/cluster-cache.ts';
import type { LaunchedCluster } from '../support/cluster/cluster-launcher.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const launchers: CapturedProcess[] = [];
let cache: ClusterCache;

beforeAll(async () => void (await builtBinaries()), buildPatienceMs);

beforeEach(() => {
  cache = new ClusterCache();
});

afterEach(async () => {
  await cache.stopAll();
  for (const launcher of launchers.splice(0)) await launcher.end();
  cache.remove();
});

function run(args: readonly string[], env: Record<string, string> = cache.env): CapturedProcess {
  const launcher = new CapturedProcess({ name: 'launcher', program: process.execPath, args, env });
  launchers.push(launcher);
  return launcher;
}

describe('when the launcher ends', () => {
  const published = (): string => join(cache.folder, 'published');

  /** Starts a launcher as a process of its own, and waits for its cluster. */
  async function launch(): Promise<{ launcher: CapturedProcess; launched: LaunchedCluster }> {
    const launcher = run([join(checkoutDirectory, 'test', 'support', 'cluster', 'cluster-launcher.ts'), published()]);
    const line = await waitFor('the launcher to report its cluster', () => firstLine(launcher));
    return { launcher, launched: JSON.parse(line) as LaunchedCluster };
  }

  function firstLine(launcher: CapturedProcess): string | undefined {
    if (!launcher.isRunning) throw new Error(launcher.output.toString());
    return /^\{.*\}$/m.exec(launcher.output.toString())?.[0];
  }

  test.each(['SIGINT', 'SIGTERM'] as const)('by %s, nothing of its cluster is left', async (signal) => {
    const { launcher, launched } = await launch();
    const processes = processesOf(launched.runFolder);
    expect(countRunning(processes)).toBe(3);
    expect(findPublished(published())?.runFolder).toBe(launched.runFolder);
    expect(await launcher.end(signal)).toEqual({ code: null, signal });
    expect(countRunning(processes)).toBe(0);
    expect(cache.runs).toEqual([]);
    expect(existsSync(published())).toBe(false);
  });

  test('by an uncaught error, nothing of its cluster is left', async () => {
    const { launcher, launched } = await launch();
    const processes = processesOf(launched.runFolder);
    expect(await launcher.end('SIGUSR2')).toMatchObject({ code: 1 });
    expect(launcher.output.toString()).toContain('A planned fault.');
    expect(countRunning(processes)).toBe(0);
    expect(cache.runs).toEqual([]);
  });

  test('by SIGKILL, its cluster is left, and the next start ends exactly that', async () => {
    const { launcher, launched } = await launch();
    const processes = processesOf(launched.runFolder);
    const bystander = await cache.start();
    await launcher.end('SIGKILL');
    expect(countRunning(processes)).toBe(3);
    expect(findPublished(published())).toBeUndefined();
    await cache.start();
    expect(countRunning(processes)).toBe(0);
    expect([existsSync(launched.runFolder), existsSync(published())]).toEqual([false, false]);
    expect(await clusterUid(bystander.kubeconfig)).toEqual(expect.any(String));
  });
});

describe('npm run cluster and npm run kubectl', () => {
  let checkout: string;

  // The same files by another path: what they publish must not meet a cluster that the developer has running here.
  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), 'keyframe-checkout-test-'));
    for (const name of ['tools', 'src', 'node_modules', 'package.json']) {
      symlinkSync(join(checkoutDirectory, name), join(checkout, name));
    }
  });

  afterAll(() => rmSync(checkout, { recursive: true, force: true }));

  const program = (name: string): string[] => [
    '--preserve-symlinks',
    '--preserve-symlinks-main',
    join(checkout, 'tools', 'devcluster', 'cluster', name),
  ];

  test('without a running cluster, kubectl says how to start one', async () => {
    const kubectl = run([...program('kubectl.ts'), 'get', 'pods']);
    expect(await kubectl.ended).toMatchObject({ code: 1 });
    expect(kubectl.output.toString()).toBe(
      'No cluster of this checkout runs. Start one in another terminal: npm run cluster, or npm start.\n',
    );
  });

  test('an image that does not exist is refused before anything is started, like a node that cannot be had', async () => {
    const main = run([...program('main.ts'), '--image', '/nonexistent/keyframe.tar'], cache.env);
    expect(await main.ended).toMatchObject({ code: 1 });
    const fault = nodeFault();
    const missing = missingPackages();
    const packages = missing.length === 0 ? '' : `A node needs more packages: apt-get install ${missing.join(' ')}`;
    const image = 'The image /nonexistent/keyframe.tar does not exist. To make one, run `npm run image`.';
    const expected = fault === undefined ? packages || image : `There can be no node here: ${fault}.`;
    expect(main.output.toString()).toBe(`${expected}\n`);
    expect(existsSync(join(cache.folder, 'runs'))).toBe(false);
  });

  test('the cluster is known to kubectl and to a second start while it runs, and gone after Ctrl-C', async () => {
    const assets = join(cache.folder, 'assets');
    mkdirSync(assets);
    writeScript(join(assets, 'kubectl'), ['echo "$KUBECONFIG" "$@"', 'exit 7']);
    const main = run(program('main.ts'), { ...cache.env, KUBEBUILDER_ASSETS: assets });
    await waitFor('the greeting', () => main.output.includes('Ctrl-C stops it'));
    const kubeconfig = join(checkout, '.dev', 'cluster', 'kubeconfig');
    const runFolder = findPublished(join(checkout, '.dev', 'cluster'))?.runFolder ?? '';
    const processes = processesOf(runFolder);
    expect(await clusterUid(kubeconfig)).toEqual(expect.any(String));

    const kubectl = run([...program('kubectl.ts'), 'get', 'pods'], { ...cache.env, KUBEBUILDER_ASSETS: assets });
    expect(await kubectl.ended).toMatchObject({ code: 7 });
    expect(kubectl.output.toString()).toBe(`${kubeconfig} get pods\n`);

    const secondStart = run(program('main.ts'));
    expect(await secondStart.ended).toMatchObject({ code: 1 });
    expect(secondStart.output.toString()).toContain('A cluster of this checkout runs already');

    expect(await main.end('SIGINT')).toEqual({ code: 0, signal: null });
    expect({ processes: countRunning(processes), runs: cache.runs }).toEqual({ processes: 0, runs: [] });
    expect(existsSync(join(checkout, '.dev', 'cluster'))).toBe(false);
  });
});

describe('the parts of a running cluster', () => {
  test('can be killed and started again by a test, and are reported only if they die by themselves', async () => {
    const reports: string[] = [];
    const cluster = await cache.start({ onUnexpectedEnd: (message) => reports.push(message) });
    const uid = await clusterUid(cluster.kubeconfig);
    await cluster.apiServer?.kill();
    await expect(clusterUid(cluster.kubeconfig)).rejects.toThrow('ECONNREFUSED');
    await cluster.apiServer?.start();
    expect(await clusterUid(cluster.kubeconfig)).toBe(uid);
    expect(reports).toEqual([]);
    const [etcd] = processesOf(cluster.runFolder);
    process.kill(etcd?.pid ?? 0, 'SIGKILL');
    const report = await waitFor('the report', () => reports[0]);
    expect(report).toMatch(/^etcd was killed by SIGKILL\. The end of etcd\.log:\n.*"level"/);
  });
});
