import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClusterError } from './cluster-error.ts';

export type BinaryName = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kubectl' | 'helm' | 'glua';

/** How one binary is compiled from its published Go module. */
export interface BinaryRecipe {
  readonly name: BinaryName;
  /** The folder with the go.mod and go.sum that pin it. */
  readonly moduleFolder: string;
  readonly goPackage: string;
  readonly ldflags: string;
  /** What a cold build took on two cores, with the download. */
  readonly typicalMinutes: number;
}

/** The control plane, in the order in which it is built and started. */
export const controlPlaneBinaries = ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const;

const here = fileURLToPath(new URL('.', import.meta.url));
const kubernetesFolder = join(here, 'kubernetes');
const helmFolder = join(here, 'helm');
const luaFolder = join(here, 'lua');

/** The version that kubernetes/go.mod pins, such as v1.36.3. Throws ClusterError if it names none. */
export function kubernetesVersion(): string {
  return pinnedVersion(kubernetesFolder, 'k8s.io/kubernetes');
}

/** The version that helm/go.mod pins, such as v4.3.1. Throws ClusterError if it names none. */
export function helmVersion(): string {
  return pinnedVersion(helmFolder, 'helm.sh/helm/v4');
}

function pinnedVersion(folder: string, module: string): string {
  const file = join(folder, 'go.mod');
  const pin = readFileSync(file, 'utf8')
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^require /, '')
        .split(' '),
    )
    .find(([name]) => name === module);
  const version = pin?.[1];
  if (version === undefined || !/^v\d+\.\d+\.\d+$/.test(version)) throw new ClusterError(`${file} names no ${module}.`);
  return version;
}

/** The minor version within a text such as `v1.36.3` or `Kubernetes v1.36.3`; undefined if there is none. */
export function minorVersion(text: string): number | undefined {
  const minor = /v1\.(\d+)\./.exec(text)?.[1];
  return minor === undefined ? undefined : Number(minor);
}

/** How to build a binary. */
export function recipeOf(name: BinaryName): BinaryRecipe {
  if (name === 'etcd') {
    const goPackage = 'go.etcd.io/etcd/server/v3';
    return { name, moduleFolder: join(here, 'etcd'), goPackage, ldflags: '-s -w', typicalMinutes: 1 };
  }
  if (name === 'helm') {
    const goPackage = 'helm.sh/helm/v4/cmd/helm';
    // Without it helm calls itself by the version of its branch.
    const ldflags = `-s -w -X helm.sh/helm/v4/internal/version.version=${helmVersion()}`;
    return { name, moduleFolder: helmFolder, goPackage, ldflags, typicalMinutes: 5 };
  }
  if (name === 'glua') {
    const goPackage = 'github.com/yuin/gopher-lua/cmd/glua';
    return { name, moduleFolder: luaFolder, goPackage, ldflags: '-s -w', typicalMinutes: 1 };
  }
  const goPackage = `k8s.io/kubernetes/cmd/${name}`;
  const typicalMinutes = { 'kube-apiserver': 6, 'kube-controller-manager': 2, kubectl: 1 }[name];
  return { name, moduleFolder: kubernetesFolder, goPackage, ldflags: versionedLdflags(), typicalMinutes };
}

// Without them the server calls itself v0.0.0-master, which clients misread.
function versionedLdflags(): string {
  const version = kubernetesVersion();
  const variables = { gitVersion: version, gitMajor: '1', gitMinor: String(minorVersion(version)) };
  const settings = Object.entries(variables).map(
    ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
  );
  return ['-s -w', ...settings].join(' ');
}

/** Where the cache holds a binary: named by all that decides its content, so that another pin is another file. */
export function cachedPath(cache: string, { name, moduleFolder, goPackage, ldflags }: BinaryRecipe): string {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(readFileSync(join(moduleFolder, file)));
  hash.update(JSON.stringify([goPackage, ldflags, process.platform, process.arch]));
  return join(cache, 'bin', `${name}-${hash.digest('hex').slice(0, 16)}`);
}
