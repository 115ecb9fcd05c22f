import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { ConfigError } from '../../src/config/source.ts';
import { generateToken } from '../../src/crypto/token.ts';
import { roles } from '../../src/roles/table.ts';
import { makeAuthority } from '../support/fixtures/certificate.ts';
import {
  chartFolder,
  neededValues,
  objectsOf,
  renderChart,
  runHelm,
  valuesFiles,
  valuesPath,
} from '../support/cluster/helm.ts';
import { fencedBlocks, readPage } from '../support/fixtures/documentation.ts';

/** What the chart renders, as helm and the program itself judge it. */

const namespace = 'keyframe';
const rootKey = `main:${Buffer.alloc(32, 7).toString('base64')}`;
const homeToken = generateToken('cluster', randomUUID()).token.reveal();
const databaseUrl = 'postgresql://keyframe:password@postgres:5432/keyframe';

interface ServerContainer {
  readonly image: string;
  readonly command?: readonly string[];
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

interface ServerPodSpec {
  readonly initContainers?: readonly ServerContainer[];
  readonly containers: readonly ServerContainer[];
}

describe.each(valuesFiles)('with the values of %s', (values) => {
  let manifests: string;
  let objects: KubeObject[];

  beforeAll(async () => {
    manifests = await renderChart({ namespace, values });
    objects = objectsOf(manifests);
  });

  test('the chart passes lint and renders alike twice', async () => {
    await runHelm(['lint', '--strict', chartFolder, ...neededValues, '--values', valuesPath(values)]);
    expect(await renderChart({ namespace, values })).toBe(manifests);
  });

  test('the program takes the roles and variables that its containers are given', () => {
    const pods = objects.filter(({ kind = '' }) => ['Deployment', 'Job', 'Pod'].includes(kind)).map(podSpecOf);
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) expect(configurationFaults(pod)).toEqual([]);
  });

  test('what runs beside the release is a hook with all that belongs to it, and goes when it has succeeded', () => {
    const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
    const policies = hooks.map(({ metadata }) => metadata.annotations?.['helm.sh/hook-delete-policy']);
    expect(new Set(policies)).toEqual(new Set(['before-hook-creation,hook-succeeded']));
    const weights = hooks.map(({ kind, metadata }) => [kind, metadata.annotations?.['helm.sh/hook-weight']].join(' '));
    const isRunning = (kind: string): boolean => kind === 'Job' || kind === 'Pod';
    expect(
      weights.filter(
        (weight) => !/^(?:(?:Job|Pod) 0|(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?) -10)$/.test(weight),
      ),
    ).toEqual([]);
    // Of the release itself nothing runs once and ends, except that its user asked for the recovery, whose token must be read.
    const others = objects.filter((object) => isRunning(object.kind ?? '') && !hooks.includes(object));
    const recovery = manifests.includes('component: recovery') ? ['keyframe-recovered'] : [];
    expect(others.map(({ metadata }) => metadata.name)).toEqual(recovery);
  });
});

test.each(['the chart', 'the page'])(
  'the container that keeps the token of a recovery ends with SIGTERM: %s',
  async (of) => {
    const [job] =
      of === 'the chart'
        ? objectsOf(await renderChart({ namespace, more: ['--set', 'recovery.enabled=true'] })).filter(isRecovery)
        : fencedBlocks(readPage('docs/backup-and-recovery.md'), 'yaml').flatMap(({ text }) =>
            objectsOf(text).filter(isRecovery),
          );
    const { command: [program, option = '', script = ''] = [] } = job === undefined ? {} : keeperOf(job);
    expect([program, option]).toEqual(['node', '-e']);
    // Without a listener, the first process of a container does not end by the signal. Any other process does, with no exit code.
    const keeper = spawn(process.execPath, [option, `${script}; process.kill(process.pid, 'SIGTERM')`], {
      stdio: 'ignore',
    });
    expect(await once(keeper, 'exit')).toEqual([0, null]);
  },
);

function isRecovery({ kind, metadata }: KubeObject): boolean {
  return kind === 'Job' && metadata.name === 'keyframe-recovered';
}

function keeperOf(job: KubeObject): ServerContainer {
  const keeper = podSpecOf(job).containers.find(({ command }) => command !== undefined);
  if (keeper === undefined) throw new Error('the Job has no container that keeps its token');
  return keeper;
}

/** The pod that an object makes. */
function podSpecOf(object: KubeObject): ServerPodSpec {
  if (object.kind === 'Pod') return (object as unknown as { spec: ServerPodSpec }).spec;
  return (object as unknown as { spec: { template: { spec: ServerPodSpec } } }).spec.template.spec;
}

/** What the program's configuration finds wrong with the containers of a pod. */
function configurationFaults({ initContainers = [], containers }: ServerPodSpec): string[] {
  const own = [...initContainers, ...containers].filter(({ image }) => image.includes('/keyframe'));
  // One that only keeps a file runs another program of the image.
  const servers = own.filter(({ command }) => command === undefined);
  return servers.flatMap(({ args: [name = '', ...args], env }) => {
    const role = roles.find((known) => known.name === name);
    const given = Object.fromEntries(env.map((variable) => [variable.name, variable.value ?? 'from elsewhere']));
    const clusterTls = clusterTlsOf(given);
    const source = {
      env: { ...given, KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      readTextFile: (path: string) => clusterTls[path] ?? mountedFile(path),
    };
    try {
      if (role === undefined) return [`${name} is no role`];
      role.load(args, source);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return [...error.faults];
      throw error;
    }
  });
}

const authority = makeAuthority();
const ofServer = authority.issue({ names: ['keyframe'], addresses: [] });

/** The files of a CA, or of a certificate for the names that the variables have. */
function clusterTlsOf(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const names = env['KEYFRAME_CLUSTER_TLS_NAMES']?.split(',') ?? [];
  const hasAuthority = env['KEYFRAME_CLUSTER_CA_FILE'] !== undefined;
  const { certificate, key } = hasAuthority ? authority : authority.issue({ names, addresses: [] });
  return { '/etc/keyframe/cluster-tls/tls.crt': certificate, '/etc/keyframe/cluster-tls/tls.key': key };
}

function mountedFile(path: string): string {
  if (path.startsWith('/etc/keyframe/database-ca/')) return authority.certificate;
  if (path.startsWith('/etc/keyframe/oidc-ca/')) return authority.certificate;
  if (path.startsWith('/etc/keyframe/server-ca/')) return authority.certificate;
  if (path.startsWith('/etc/keyframe/database-owner/')) return databaseUrl.replace('keyframe:', 'owner:');
  if (path === '/etc/keyframe/cluster-token/token') return homeToken;
  if (path === '/etc/keyframe/tls/tls.key') return ofServer.key;
  if (path === '/etc/keyframe/tls/tls.crt') return ofServer.certificate;
  return path.startsWith('/etc/keyframe/root-key/') ? rootKey : databaseUrl;
}
