import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { auditPolicy } from './audit-policy.ts';
import { ClusterError } from './cluster-error.ts';
import { Component } from './component.ts';
import { withoutUsersKubeconfig } from './kubeconfig.ts';
import { onProcessEnd } from './process-end.ts';
import type { RunRecord } from './run-record.ts';

export interface KindCluster {
  readonly kubeconfig: string;
  readonly auditLog: string;
  /** Ends what follows its audit log; the cluster itself ends with its record. */
  readonly end: () => Promise<void>;
}

export interface KindOptions {
  readonly record: RunRecord;
  /** Unlike that of any other cluster of this machine. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  readonly onUnexpectedEnd: (message: string) => void;
}

const nodePolicy = '/etc/kubernetes/keyframe/audit-policy.yaml';
const nodeLog = '/var/log/kubernetes/audit.log';
const shownLogLines = 15;

/**
 * Creates a kind cluster with an audit log and a kubeconfig of its own; the user's is not touched. Its record deletes it.
 * Throws ClusterError with the end of what kind said.
 */
export async function startKind({ record, name, env, onUnexpectedEnd }: KindOptions): Promise<KindCluster> {
  const policyFile = join(record.folder, 'audit-policy.yaml');
  const configFile = join(record.folder, 'kind.yaml');
  const kubeconfig = join(record.folder, 'kubeconfig');
  writeFileSync(policyFile, auditPolicy());
  writeFileSync(configFile, kindConfiguration(policyFile));
  record.addKindCluster(name);
  const create = ['create', 'cluster', '--name', name, '--kubeconfig', kubeconfig];
  await runKind([...create, '--config', configFile, '--wait', '180s'], env, join(record.folder, 'kind.log'));
  const auditLog = join(record.folder, 'audit.log');
  // The node's log belongs to its root, whom the caller need not be: it is followed through docker.
  const args = ['exec', `${name}-control-plane`, 'tail', '--lines=+1', '--follow=name', nodeLog];
  const follow = { name: 'audit', program: 'docker', args, env, outputFile: auditLog };
  const follower = new Component({ ...follow, record, onUnexpectedEnd });
  follower.start();
  return { kubeconfig, auditLog, end: () => follower.kill() };
}

async function runKind(args: readonly string[], env: NodeJS.ProcessEnv, logFile: string): Promise<void> {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn('kind', args, { env: withoutUsersKubeconfig(env), stdio: ['ignore', log, log] });
  closeSync(log);
  const forget = onProcessEnd(() => child.kill('SIGTERM'));
  const [code] = (await once(child, 'close').finally(forget)) as [number | null];
  if (code === 0) return;
  const lines = readFileSync(logFile, 'utf8').trim().split('\n').slice(-shownLogLines);
  throw new ClusterError(`kind create cluster failed:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}

// See https://kind.sigs.k8s.io/docs/user/auditing/
function kindConfiguration(policyFile: string): string {
  const volume = (name: string, folder: string, readOnly: boolean): object => ({
    name,
    hostPath: folder,
    mountPath: folder,
    readOnly,
    pathType: 'DirectoryOrCreate',
  });
  const kubeadm = {
    kind: 'ClusterConfiguration',
    apiServer: {
      extraArgs: { 'audit-policy-file': nodePolicy, 'audit-log-path': nodeLog },
      extraVolumes: [
        volume('keyframe-audit-policy', '/etc/kubernetes/keyframe', true),
        volume('keyframe-audit-log', '/var/log/kubernetes', false),
      ],
    },
  };
  const node = {
    role: 'control-plane',
    kubeadmConfigPatches: [stringify(kubeadm)],
    extraMounts: [{ hostPath: policyFile, containerPath: nodePolicy, readOnly: true }],
  };
  return stringify({ kind: 'Cluster', apiVersion: 'kind.x-k8s.io/v1alpha4', nodes: [node] });
}
