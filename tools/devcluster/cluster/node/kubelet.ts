import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { containerdSocket } from './containerd.ts';
import type { NodeNetwork } from './node-network.ts';
import { nodeName, nodeUsers } from './node-users.ts';

interface KubeletOptions {
  /** The run's. */
  readonly folder: string;
  readonly network: NodeNetwork;
  /** The certificate by which the API server shows who it is. */
  readonly apiServerCertificate: string;
}

/** The arguments of the kubelet, whose files are written. */
export function prepareKubelet(options: KubeletOptions): string[] {
  const { folder, network } = options;
  const home = join(folder, 'kubelet');
  mkdirSync(home, { mode: 0o700 });
  const config = join(folder, 'kubelet.yaml');
  writeFileSync(config, stringify(configuration(options)), { mode: 0o600 });
  return [
    `--config=${config}`,
    `--kubeconfig=${join(folder, nodeUsers.kubelet.kubeconfig)}`,
    `--root-dir=${home}`,
    `--cert-dir=${join(home, 'pki')}`,
    `--hostname-override=${nodeName}`,
    `--node-ip=${network.nodeAddress}`,
  ];
}

// https://kubernetes.io/docs/reference/config-api/kubelet-config.v1beta1/
function configuration({ folder, network, apiServerCertificate }: KubeletOptions): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    address: network.nodeAddress,
    readOnlyPort: 0,
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: apiServerCertificate },
    },
    // Every client that it authenticates, which is the API server alone.
    authorization: { mode: 'AlwaysAllow' },
    clusterDNS: [network.dnsService],
    clusterDomain: 'cluster.local',
    resolvConf: '/dev/null',
    // The hierarchy may be of either version, and there is no systemd.
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    // kube-proxy makes those that are needed.
    makeIPTablesUtilChains: false,
    volumePluginDir: join(folder, 'volume-plugins'),
    configMapAndSecretChangeDetectionStrategy: 'Watch',
    syncFrequency: '5s',
    // The machine's disk is not the node's to judge.
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
  };
}
