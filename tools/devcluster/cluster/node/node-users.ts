import type { ClusterUser } from '../control-plane-files.ts';

/** What the one node is called. */
export const nodeName = 'keyframe-node';

/** Whom the API server has to know besides its own; the names are the ones that RBAC's defaults speak of. */
export const nodeUsers = {
  scheduler: { user: 'system:kube-scheduler', groups: [], kubeconfig: 'kube-scheduler.kubeconfig' },
  kubelet: { user: `system:node:${nodeName}`, groups: ['system:nodes'], kubeconfig: 'kubelet.kubeconfig' },
  proxy: { user: 'system:kube-proxy', groups: [], kubeconfig: 'kube-proxy.kubeconfig' },
  dns: { user: 'system:coredns', groups: [], kubeconfig: 'coredns.kubeconfig' },
} as const satisfies Readonly<Record<string, ClusterUser>>;
