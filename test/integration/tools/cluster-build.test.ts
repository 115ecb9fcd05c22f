import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type BinaryName,
  helmVersion,
  kubernetesVersion,
  minorVersion,
  otherKubernetesVersions,
} from '../../../tools/devcluster/cluster/binaries.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { machineName } from '../../../tools/devcluster/cluster/machine.ts';

let folder: string;
let cache: string;
let reported: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-build-test-'));
  cache = join(folder, 'cache');
  reported = [];
  kubernetes = undefined;
  mkdirSync(join(folder, 'programs'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Puts a `go` on the PATH that notes how it was called, and does this for «build», its output file being $out. */
function writeGo({ version = 'echo go1.26.8', build = 'echo "built $pkg" > "$out"; chmod +x "$out"' } = {}): void {
  const script = [
    '#!/bin/sh',
    `[ "$1" = env ] && { ${version}; exit; }`,
    `echo "$(basename "$PWD") CGO_ENABLED=$CGO_ENABLED GOFLAGS=$GOFLAGS GOOS=$GOOS $*" >> ${folder}/notes`,
    'while [ "$1" != -o ]; do shift; done',
    'out=$2 pkg=$3',
    build,
    '',
  ];
  writeFileSync(join(folder, 'programs', 'go'), script.join('\n'), { mode: 0o755 });
}

let kubernetes: string | undefined;

function ensure<N extends BinaryName>(...names: N[]): Promise<Record<N, string>> {
  // The second and third are for the script that stands in for Go; where it is absent, the machine's own must not be found.
  const present = existsSync(join(folder, 'programs', 'go'));
  const env = {
    PATH: present ? `${folder}/programs:/usr/bin:/bin` : `${folder}/programs`,
    KEYFRAME_CACHE_DIR: cache,
    GOFLAGS: '-tags=mine',
    GOOS: 'plan9',
    KEYFRAME_TEST_KUBERNETES: kubernetes,
  };
  return ensureBinaries(names, { env, output: { write: (text) => reported.push(text) } });
}

const notes = (): string[] => readFileSync(join(folder, 'notes'), 'utf8').trim().split('\n');
const filesInCache = (): string[] =>
  readdirSync(cache)
    .concat(readdirSync(join(cache, 'bin')))
    .sort();

describe('what is built', () => {
  test('only the wanted binaries, from the pinned module, whatever the settings for other projects are', async () => {
    writeGo();
    const paths = await ensure('etcd', 'kubectl');
    expect(readFileSync(paths.etcd, 'utf8')).toBe('built go.etcd.io/etcd/server/v3\n');
    expect(readFileSync(paths.kubectl, 'utf8')).toBe('built k8s.io/kubernetes/cmd/kubectl\n');
    const flags = 'CGO_ENABLED=0 GOFLAGS= GOOS= build -mod=readonly -buildvcs=false -trimpath -ldflags -s -w';
    const version = 'k8s.io/component-base/version';
    expect(notes()).toEqual([
      expect.stringMatching(`^etcd ${flags} -o \\S+ go.etcd.io/etcd/server/v3$`),
      expect.stringMatching(
        `^kubernetes ${flags} -X ${version}.gitVersion=${kubernetesVersion()} -X ${version}.gitMajor=1 -X ${version}.gitMinor=${minorVersion(kubernetesVersion())} -o \\S+ k8s.io/kubernetes/cmd/kubectl$`,
      ),
    ]);
    expect(statSync(cache).mode & 0o777).toBe(0o700);
  });

  test('helm, of the version that its module pins', async () => {
    writeGo();
    const { helm } = await ensure('helm');
    expect(readFileSync(helm, 'utf8')).toBe('built helm.sh/helm/v4/cmd/helm\n');
    expect(helmVersion()).toMatch(/^v4\.\d+\.\d+$/);
    expect(notes()).toEqual([
      expect.stringMatching(
        `^helm .* -s -w -X helm.sh/helm/v4/internal/version.version=${helmVersion()} -o \\S+ helm.sh/helm/v4/cmd/helm$`,
      ),
    ]);
  });

  test('the health checks of Flux and Argo CD, from a program of this repository', async () => {
    writeGo();
    const { health } = await ensure('health');
    expect(readFileSync(health, 'utf8')).toBe('built .\n');
    expect(notes()).toEqual([expect.stringMatching(/^health .* -ldflags -s -w -o \S+ \.$/)]);
  });

  test.each(otherKubernetesVersions)(
    'the control plane of Kubernetes %s, which KEYFRAME_TEST_KUBERNETES names',
    async (version) => {
      writeGo();
      const usual = await ensure('kube-apiserver', 'kubectl');
      kubernetes = version;
      const chosen = await ensure('kube-apiserver', 'kubectl');
      expect(chosen.kubectl).toBe(usual.kubectl);
      expect(chosen['kube-apiserver']).not.toBe(usual['kube-apiserver']);
      expect(notes().at(-1)).toMatch(new RegExp(`^kubernetes-${version} .*\\.gitVersion=v${version}\\.\\d+ `));
    },
  );

  test('nothing for a Kubernetes without pins: the error names those that have some', async () => {
    writeGo();
    kubernetes = '1.2/../..';
    await expect(ensure('kube-apiserver')).rejects.toThrow(
      'KEYFRAME_TEST_KUBERNETES is 1.2/../... Set it to 1.35 or 1.37',
    );
  });

  test('nothing, without a word, where all is in the cache, even if Go has gone', async () => {
    writeGo();
    const first = await ensure('etcd');
    reported = [];
    rmSync(join(folder, 'programs', 'go'));
    expect(await ensure('etcd')).toEqual(first);
    expect(reported.map((line) => line.replace(/\b\d+ s\b/, 'N s'))).toEqual([]);
  });

  test('once, where two want it at the same time: the second waits and reports it', async () => {
    writeGo({ build: 'sleep 0.5; echo built > "$out"' });
    const [first, second] = await Promise.all([ensure('etcd'), ensure('etcd')]);
    expect(second).toEqual(first);
    expect(notes()).toHaveLength(1);
    expect(reported.join('')).toContain(
      `Another process (${process.pid}) is building Kubernetes into ${cache}: waiting for it.`,
    );
    expect(filesInCache()).toEqual(['bin', basename(first.etcd)]);
  });

  test('also where a builder that was killed has left its lock', async () => {
    writeGo();
    mkdirSync(cache);
    const holder = { machine: machineName(), process: { pid: process.pid, stamp: 'of an earlier process' } };
    writeFileSync(join(cache, 'build.lock'), JSON.stringify(holder));
    await ensure('etcd');
    expect(existsSync(join(cache, 'build.lock'))).toBe(false);
  });
});

test('the work is announced with an estimate and reported step by step', async () => {
  writeGo();
  await ensure('etcd', 'kubectl');
  expect(reported.map((line) => line.replace(/\b\d+ s\b/, 'N s'))).toEqual([
    `Building a local Kubernetes, once: etcd, kubectl. About 2 min on two cores; kept in ${cache}.\n`,
    '  1/2 etcd: N s (typically 1 min on two cores); about 2 min left in all\n',
    '  1/2 etcd: built in N s\n',
    '  2/2 kubectl: N s (typically 1 min on two cores); about 1 min left in all\n',
    '  2/2 kubectl: built in N s\n',
  ]);
});

describe('a fault gives one clear message', () => {
  const waysOut =
    /Install Go 1\.26 or newer from https:\/\/go\.dev\/dl.*kind.*KUBEBUILDER_ASSETS.*KEYFRAME_TEST_KUBECONFIG/;

  test.each([
    ['Go is not installed', undefined, /Go is not installed/],
    ['Go is too old', 'echo go1.25.9', /The Go on the PATH is go1\.25\.9, too old/],
    [
      'Go refuses the module itself',
      'echo "go: go.mod requires go >= 1.26.0 (running go 1.22.1; GOTOOLCHAIN=local)" >&2; exit 1',
      /The Go on the PATH cannot build Kubernetes \(go: go\.mod requires go >= 1\.26\.0/,
    ],
  ])('where %s', async (_name, version, message) => {
    if (version !== undefined) writeGo({ version });
    const building = ensure('etcd');
    await expect(building).rejects.toThrow(message);
    await expect(building).rejects.toThrow(waysOut);
  });

  test('where the compiler fails, in its own words, and leaves nothing', async () => {
    writeGo({ build: 'echo half > "$out"; echo "dial tcp: no such host" >&2; exit 1' });
    await expect(ensure('etcd')).rejects.toThrow(/^Building etcd failed\..*GOPROXY.*\n {2}dial tcp: no such host$/);
    expect(filesInCache()).toEqual(['bin']);
  });
});
