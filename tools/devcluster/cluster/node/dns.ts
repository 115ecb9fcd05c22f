import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apply } from '../apply.ts';
import type { KubeHttp } from '../kube-http.ts';
import type { NodeNetwork } from './node-network.ts';
import { nodeUsers } from './node-users.ts';

/** The port at which CoreDNS reports whether it is ready. */
export const dnsReadyPort = 8181;

/** The arguments of CoreDNS, whose file is written. It knows the cluster's own names and no others. */
export function prepareDns(folder: string): string[] {
  const file = join(folder, 'Corefile');
  const content = `.:53 {
  errors
  ready :${dnsReadyPort}
  kubernetes cluster.local {
    kubeconfig ${join(folder, nodeUsers.dns.kubeconfig)}
  }
}
`;
  writeFileSync(file, content);
  return ['-conf', file];
}

/** The Service by which pods find CoreDNS, which is a process of the node, and what it may read. */
export async function installDns(kube: KubeHttp, { nodeAddress, dnsService }: NodeNetwork): Promise<void> {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  const metadata = { name: 'system:coredns' };
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  const read = { verbs: ['list', 'watch'] };
  await apply(kube, `${roles}/clusterroles/${metadata.name}`, {
    ...rbac,
    kind: 'ClusterRole',
    metadata,
    rules: [
      { ...read, apiGroups: [''], resources: ['services', 'pods', 'namespaces'] },
      { ...read, apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'] },
    ],
  });
  await apply(kube, `${roles}/clusterrolebindings/${metadata.name}`, {
    ...rbac,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: nodeUsers.dns.user }],
  });
  const ports = [
    { name: 'dns', protocol: 'UDP', port: 53 },
    { name: 'dns-tcp', protocol: 'TCP', port: 53 },
  ];
  await apply(kube, '/api/v1/namespaces/kube-system/services/kube-dns', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system' },
    spec: { clusterIP: dnsService, ports },
  });
  await apply(kube, '/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices/kube-dns', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kube-dns', namespace: 'kube-system', labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    ports,
    endpoints: [{ addresses: [nodeAddress] }],
  });
}
