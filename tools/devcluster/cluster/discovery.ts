import { join, resolve } from 'node:path';
import { minorVersion } from './binaries.ts';

/** The ways to a cluster, in the order in which they are tried. */
export const clusterSources = ['explicit', 'kind', 'assets', 'built'] as const;
export type ClusterSource = (typeof clusterSources)[number];

export type ClusterCandidate =
  | { readonly source: 'explicit'; readonly kubeconfig: string }
  | { readonly source: 'kind' }
  | { readonly source: 'assets'; readonly folder: string; readonly hasControllerManager: boolean }
  | { readonly source: 'built' };

/** A way that is not taken, and why. */
export interface PassedOver {
  readonly source: ClusterSource;
  readonly reason: string;
}

/** What a program did; undefined where there is no such program. */
export interface ProgramAnswer {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the decision looks at of the machine. */
export interface MachineView {
  readonly env: NodeJS.ProcessEnv;
  readonly run: (program: string, args: readonly string[]) => ProgramAnswer | undefined;
  readonly isExecutable: (path: string) => boolean;
}

/** The oldest API server that understands the flags and configuration files of the launcher. */
const oldestMinor = 34;

/**
 * The clusters that can be had here, the one to try first in front, and why the others can't. An explicitly named cluster is the
 * only candidate: a fault of it is not to be covered up by another. The user's own KUBECONFIG is never looked at.
 *
 * @param ours the Kubernetes version that is built here, such as v1.36.3
 */
export function findCandidates(
  machine: MachineView,
  ours: string,
  allowed: readonly ClusterSource[] = clusterSources,
): { candidates: ClusterCandidate[]; passedOver: PassedOver[] } {
  const candidates: ClusterCandidate[] = [];
  const passedOver: PassedOver[] = [];
  for (const source of clusterSources.filter((each) => allowed.includes(each))) {
    const found = judge(source, machine, ours);
    if (typeof found === 'string') passedOver.push({ source, reason: found });
    else candidates.push(found);
    if (source === 'explicit' && typeof found !== 'string') break;
  }
  return { candidates, passedOver };
}

/** The candidate, or why it is none. */
function judge(source: ClusterSource, machine: MachineView, ours: string): ClusterCandidate | string {
  if (source === 'built') return { source };
  if (source === 'kind') return kindFault(machine) ?? { source };
  if (source === 'assets') return judgeAssets(machine, ours);
  const kubeconfig = machine.env['KEYFRAME_TEST_KUBECONFIG'];
  return kubeconfig === undefined || kubeconfig === ''
    ? 'KEYFRAME_TEST_KUBECONFIG is not set'
    : { source, kubeconfig: resolve(kubeconfig) };
}

/** Why no cluster can be had from kind (https://kind.sigs.k8s.io) on this machine; undefined if one can. */
export function kindFault({ run }: Pick<MachineView, 'run'>): string | undefined {
  const docker = run('docker', ['info', '--format', '{{.ServerVersion}}']);
  if (docker === undefined) return 'docker is not installed';
  // Some versions exit with 0 although no server answered, and then name no server.
  if (docker.status !== 0 || docker.stdout.trim() === '')
    return `docker info does not answer: ${firstLine(docker.stderr)}`;
  const kind = run('kind', ['version']);
  if (kind === undefined) return 'kind is not installed';
  // An npm package of that name is a type checker.
  return /^kind v\d/.test(kind.stdout) ? undefined : 'the kind on the PATH is not the Kubernetes tool';
}

function judgeAssets(machine: MachineView, ours: string): ClusterCandidate | string {
  const named = machine.env['KUBEBUILDER_ASSETS'];
  if (named === undefined || named === '') return 'KUBEBUILDER_ASSETS is not set';
  const folder = resolve(named);
  const has = (name: string): boolean => machine.isExecutable(join(folder, name));
  const lacking = ['etcd', 'kube-apiserver'].filter((name) => !has(name));
  if (lacking.length > 0) return `KUBEBUILDER_ASSETS: ${folder} lacks ${lacking.join(' and ')}`;
  const version = firstLine(machine.run(join(folder, 'kube-apiserver'), ['--version'])?.stdout ?? '');
  const hasControllerManager = has('kube-controller-manager');
  return versionFault(version, ours, hasControllerManager) ?? { source: 'assets', folder, hasControllerManager };
}

function versionFault(version: string, ours: string, hasControllerManager: boolean): string | undefined {
  const minor = minorVersion(version) ?? 0;
  if (minor < oldestMinor) return `KUBEBUILDER_ASSETS has «${version}»; v1.${oldestMinor} or newer is needed`;
  if (hasControllerManager || minor === minorVersion(ours)) return undefined;
  return `KUBEBUILDER_ASSETS has «${version}» without kube-controller-manager, and only that of ${ours} is built here`;
}

function firstLine(text: string): string {
  return text.trim().split('\n')[0] ?? '';
}
