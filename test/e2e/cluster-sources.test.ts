import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { controlPlaneBinaries } from '../../tools/devcluster/cluster/binaries.ts';
import { clusterSources } from '../../tools/devcluster/cluster/discovery.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { AuditLog } from '../support/cluster/audit-log.ts';
import {
  builtBinaries,
  buildPatienceMs,
  ClusterCache,
  clusterUid,
  countRunning,
  processesOf,
  writeScript,
} from '../support/cluster/cluster-cache.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';

const sources = clusterSources;
const customResources = join(checkoutDirectory, 'crds');
let binaries: Awaited<ReturnType<typeof builtBinaries>>;
let cache: ClusterCache;

beforeAll(async () => {
  binaries = await builtBinaries();
}, buildPatienceMs);

beforeEach(() => {
  cache = new ClusterCache();
});

afterEach(async () => {
  await cache.stopAll();
  cache.remove();
});

function commandLines(): string {
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
}

describe('a cluster that KEYFRAME_TEST_KUBECONFIG names', () => {
  test('is prepared and audited as any other and outlives the run; if it is dead, no other takes its place', async () => {
    const second = await cache.start();
    const kubeconfig = join(cache.folder, 'named.kubeconfig');
    writeFileSync(kubeconfig, readFileSync(second.kubeconfig));
    const log = { KEYFRAME_TEST_AUDIT_LOG: second.auditLog ?? '' };
    const env = { ...cache.env, ...log, KEYFRAME_TEST_KUBECONFIG: kubeconfig, KUBECONFIG: '/nowhere' };

    const named = await cache.start({ env, sources, customResources });
    expect(named).toMatchObject({ how: 'explicit', url: second.url, kubeconfig });
    expect(readFileSync(named.caFile ?? '', 'utf8')).toBe(readFileSync(second.caFile ?? '', 'utf8'));
    await expectServedAndAudited(named.kubeconfig, named.auditLog);
    await named.stop();
    expect(await clusterUid(kubeconfig)).not.toBe(await clusterUid(sharedCluster().kubeconfig));

    await second.stop();
    await expect(cache.start({ env, sources })).rejects.toThrow(
      `KEYFRAME_TEST_KUBECONFIG names ${kubeconfig}, whose cluster does not answer: connect ECONNREFUSED`,
    );
    expect(cache.runs).toEqual([]);
  });

  test('by a file that is not there gives a message', async () => {
    const starting = cache.start({ env: { ...cache.env, KEYFRAME_TEST_KUBECONFIG: '/nowhere' }, sources });
    await expect(starting).rejects.toThrow('KEYFRAME_TEST_KUBECONFIG names /nowhere, which cannot be read.');
  });

  async function expectServedAndAudited(kubeconfig: string, path = ''): Promise<void> {
    const client = new KubeHttp(kubeconfig);
    expect((await client.send({ path: '/apis/keyframe.dev/v1alpha1/secretsyncs' })).status).toBe(200);
    const log = new AuditLog({ path, client });
    const mark = await log.mark();
    await client.json({ path: '/api/v1/namespaces/default' });
    expect((await log.since(mark)).map(({ requestURI }) => requestURI)).toContain('/api/v1/namespaces/default');
    client.close();
  }
});

describe('the programs that KUBEBUILDER_ASSETS names', () => {
  let folder: string;

  beforeEach(() => {
    folder = join(cache.folder, 'assets');
    mkdirSync(folder);
  });

  const startFromAssets = (): ReturnType<ClusterCache['start']> =>
    cache.start({ env: { ...cache.env, KUBEBUILDER_ASSETS: folder }, sources: ['assets', 'built'] });

  test('are run', async () => {
    for (const name of controlPlaneBinaries) symlinkSync(binaries[name], join(folder, name));
    const cluster = await startFromAssets();
    expect(cluster.how).toBe('assets');
    expect(commandLines()).toContain(`${folder}/etcd --data-dir=${cluster.runFolder}`);
  });

  test('give an error with the end of the log of the one that fails, and nothing is left', async () => {
    symlinkSync(binaries.etcd, join(folder, 'etcd'));
    const answer = '[ "$1" = --version ] && exec echo Kubernetes v1.36.3';
    for (const name of ['kube-apiserver', 'kube-controller-manager']) {
      writeScript(join(folder, name), [answer, 'echo "unknown flag: $1" >&2', 'exit 3']);
    }
    await expect(startFromAssets()).rejects.toThrow(
      /^kube-apiserver ended with code 3\. The end of kube-apiserver\.log:\n {2}unknown flag: --cert-dir=/,
    );
    expect(cache.runs).toEqual([]);
    expect(commandLines()).not.toContain(`--data-dir=${cache.folder}`);
  });
});

// Where there is no Docker, kind itself can't run. So that its way is not left untried, the commands which kind and docker
// get are checked here, with programs that note them and hand out another cluster of this test.
describe('the way through kind', () => {
  let programs: string;
  const notes = (): string => readFileSync(join(programs, 'notes'), 'utf8');

  beforeEach(() => {
    programs = join(cache.folder, 'programs');
    mkdirSync(programs);
  });

  const env = (): Record<string, string> => ({
    ...cache.env,
    PATH: `${programs}:${process.env['PATH'] ?? ''}`,
    KUBECONFIG: join(programs, 'users-own'),
  });

  function writePrograms({ auditLog = '/dev/null', create }: { auditLog?: string | undefined; create: string }): void {
    writeScript(join(programs, 'docker'), [
      '[ "$1" = info ] && exec echo 28.0.0',
      `[ "$1 $3 $4 $5" = "exec tail --lines=+1 --follow=name" ] && exec tail -n +1 -f ${auditLog}`,
      'exit 1',
    ]);
    writeScript(join(programs, 'kind'), [
      '[ "$1" = version ] && exec echo kind v0.33.0 go1.26.1 linux/amd64',
      `echo "$@" >> ${programs}/notes`,
      '[ -z "$KUBECONFIG" ] || echo changed > "$KUBECONFIG"',
      `[ "$1" = delete ] || { ${create}; }`,
    ]);
  }

  test('creates a cluster under a name and kubeconfig of its own, and deletes just that', async () => {
    const second = await cache.start();
    writePrograms({ auditLog: second.auditLog, create: `cp ${second.kubeconfig} "$6"` });
    const cluster = await cache.start({ env: env(), sources: ['kind'], customResources });
    const { runFolder, auditLog: path = '' } = cluster;
    expect(cluster).toMatchObject({ how: 'kind', url: second.url, kubeconfig: join(runFolder, 'kubeconfig') });
    const client = new KubeHttp(cluster.kubeconfig);
    expect(await new AuditLog({ path, client }).mark()).toBeGreaterThan(0);
    client.close();
    const processes = processesOf(runFolder);
    await cluster.stop();
    const [create, remove] = notes().split('\n');
    const name = /^create cluster --name (keyframe-[0-9a-f]{12}) --kubeconfig /.exec(create ?? '')?.[1];
    expect(remove).toBe(`delete cluster --name ${name} --kubeconfig ${runFolder}/kubeconfig`);
    expect([countRunning(processes), existsSync(runFolder), existsSync(join(programs, 'users-own'))]).toEqual([
      0,
      false,
      false,
    ]);
  });

  test('gives way to the next one with its words if it fails, and what it began is deleted', async () => {
    writePrograms({ create: 'echo "failed to pull image" >&2; exit 1' });
    const cluster = await cache.start({ env: env(), sources: ['kind', 'built'] });
    expect(cluster.how).toBe('built');
    expect(cluster.passedOver).toEqual([{ source: 'kind', reason: expect.stringContaining('failed to pull image') }]);
    expect(notes()).toMatch(/^create cluster .*\ndelete cluster --name keyframe-/);
  });
});
