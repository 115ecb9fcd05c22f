import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClusterError } from './cluster-error.ts';

/** What a node runs besides the control plane. `pause` becomes the image of that name. */
export const nodeBinaries = [
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'coredns',
  'pause',
] as const;

export type BinaryName =
  (typeof controlPlaneBinaries)[number] | (typeof nodeBinaries)[number] | 'kubectl' | 'helm' | 'health';

/** How one binary is compiled from its published Go module. */
export interface BinaryRecipe {
  readonly name: BinaryName;
  /** The folder with the go.mod and go.sum that pin it, and its source where that is not a published package. */
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
const containerdFolder = join(here, 'containerd');

/** The minor versions of Kubernetes that the end-to-end suite also runs on, besides that of kubernetes/go.mod. */
export const otherKubernetesVersions = ['1.35', '1.37'] as const;

/** The version that kubernetes/go.mod pins, such as v1.36.3. Throws ClusterError if it names none. */
export function kubernetesVersion(folder = kubernetesFolder): string {
  return pinnedVersion(folder, 'k8s.io/kubernetes');
}

/**
 * The folder with the pins of the control plane: that of the minor version in KEYFRAME_TEST_KUBERNETES, such as 1.35, or else
 * kubernetes/. Throws ClusterError that names the versions if it has no pins.
 */
function controlPlaneFolder(env: NodeJS.ProcessEnv): string {
  const wanted = env['KEYFRAME_TEST_KUBERNETES'];
  if (wanted === undefined || wanted === '') return kubernetesFolder;
  const folder = join(here, `kubernetes-${wanted}`);
  if (/^\d+\.\d+$/.test(wanted) && existsSync(folder)) return folder;
  const known = otherKubernetesVersions.join(' or ');
  throw new ClusterError(`KEYFRAME_TEST_KUBERNETES is ${wanted}. Set it to ${known}, or leave it out.`);
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

// What a cold build took on two cores, in minutes, with the download.
const typicalMinutes: Readonly<Record<BinaryName, number>> = {
  etcd: 1,
  'kube-apiserver': 6,
  'kube-controller-manager': 2,
  kubectl: 1,
  helm: 5,
  health: 3,
  'kube-scheduler': 1,
  kubelet: 1,
  'kube-proxy': 0.5,
  containerd: 2,
  'containerd-shim-runc-v2': 0.5,
  ctr: 0.5,
  coredns: 1,
  pause: 0.1,
};

/** How to build a binary. The environment chooses the version of the control plane. Throws ClusterError if it chooses none. */
export function recipeOf(name: BinaryName, env: NodeJS.ProcessEnv): BinaryRecipe {
  return { name, ...sourceOf(name, env), typicalMinutes: typicalMinutes[name] };
}

function sourceOf(
  name: BinaryName,
  env: NodeJS.ProcessEnv,
): Pick<BinaryRecipe, 'moduleFolder' | 'goPackage' | 'ldflags'> {
  switch (name) {
    case 'etcd':
      return { moduleFolder: join(here, 'etcd'), goPackage: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' };
    case 'helm':
      // Without it helm calls itself by the version of its branch.
      return {
        moduleFolder: helmFolder,
        goPackage: 'helm.sh/helm/v4/cmd/helm',
        ldflags: `-s -w -X helm.sh/helm/v4/internal/version.version=${helmVersion()}`,
      };
    case 'containerd':
    case 'containerd-shim-runc-v2':
    case 'ctr':
      return containerdSource(name);
    case 'coredns':
    case 'health':
    case 'pause':
      return { moduleFolder: join(here, name), goPackage: '.', ldflags: '-s -w' };
    default:
      return kubernetesSource(name, env);
  }
}

function containerdSource(name: string): ReturnType<typeof sourceOf> {
  const module = 'github.com/containerd/containerd/v2';
  const version = pinnedVersion(containerdFolder, module);
  return {
    moduleFolder: containerdFolder,
    goPackage: `${module}/cmd/${name}`,
    ldflags: `-s -w -X ${module}/version.Version=${version}`,
  };
}

function kubernetesSource(name: BinaryName, env: NodeJS.ProcessEnv): ReturnType<typeof sourceOf> {
  const isControlPlane = (controlPlaneBinaries as readonly string[]).includes(name);
  const moduleFolder = isControlPlane ? controlPlaneFolder(env) : kubernetesFolder;
  const version = kubernetesVersion(moduleFolder);
  const variables = { gitVersion: version, gitMajor: '1', gitMinor: String(minorVersion(version)) };
  // Without them the server calls itself v0.0.0-master, which clients misread.
  const settings = Object.entries(variables).map(
    ([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`,
  );
  return { moduleFolder, goPackage: `k8s.io/kubernetes/cmd/${name}`, ldflags: ['-s -w', ...settings].join(' ') };
}

/** Where the cache holds a binary: named by all that decides its content, so that another pin is another file. */
export function cachedPath(cache: string, { name, moduleFolder, goPackage, ldflags }: BinaryRecipe): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(moduleFolder).toSorted()) hash.update(readFileSync(join(moduleFolder, file)));
  hash.update(JSON.stringify([goPackage, ldflags, process.platform, process.arch]));
  return join(cache, 'bin', `${name}-${hash.digest('hex').slice(0, 16)}`);
}
