import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Component } from '../component.ts';
import type { PlaneForNode } from '../control-plane.ts';
import { KubeHttp } from '../kube-http.ts';
import type { RunRecord } from '../run-record.ts';
import type { nodeBinaries } from '../binaries.ts';
import { Containerd } from './containerd.ts';
import { dnsReadyPort, installDns, prepareDns } from './dns.ts';
import { prepareKubelet } from './kubelet.ts';
import { connectNode, type NodeNetwork } from './node-network.ts';
import { NodeSpace } from './node-space.ts';
import { nodeName, nodeUsers } from './node-users.ts';
import { runTool } from '../run-tool.ts';

export interface NodeOptions {
  readonly programs: Readonly<Record<(typeof nodeBinaries)[number], string>>;
  readonly record: RunRecord;
  /** Called when a part of it ends without a request. */
  readonly onUnexpectedEnd: (message: string) => void;
}

/** A node that runs pods: scheduler, containerd, kubelet, kube-proxy and CoreDNS, for a control plane on this machine. */
export class ClusterNode {
  readonly network: NodeNetwork;
  /** What the control plane must know before it starts. */
  readonly plane: PlaneForNode;
  readonly #options: NodeOptions;
  readonly #space: NodeSpace;
  #containerd: Containerd | undefined;
  #scheduler: Component | undefined;

  private constructor(options: NodeOptions, space: NodeSpace, network: NodeNetwork) {
    this.#options = options;
    this.#space = space;
    this.network = network;
    const { folder } = options.record;
    this.plane = {
      address: network.machineAddress,
      serviceRange: network.serviceRange,
      kubeletClient: {
        certificateFile: join(folder, 'kubelet-client.crt'),
        keyFile: join(folder, 'kubelet-client.key'),
      },
      users: Object.values(nodeUsers),
    };
  }

  /** Makes the namespaces and the network of a node; the rest starts when the control plane runs. Throws ClusterError. */
  static async prepare(options: NodeOptions): Promise<ClusterNode> {
    const { record, programs, onUnexpectedEnd } = options;
    const space = await NodeSpace.start({ record, pause: programs.pause, onUnexpectedEnd });
    try {
      const node = new ClusterNode(options, space, await connectNode(space));
      await makeKubeletClient(node.plane.kubeletClient);
      return node;
    } catch (error) {
      await space.end();
      throw error;
    }
  }

  /** Starts what a node runs, and waits until it is Ready and Services and names work. Throws ClusterError. */
  async start(adminKubeconfig: string): Promise<void> {
    const { programs, record } = this.#options;
    const space = this.#space;
    const { network } = this;
    const { folder } = record;
    const kube = new KubeHttp(adminKubeconfig);
    try {
      await installDns(kube, network);
      this.#startScheduler();
      space.startComponent({ name: 'coredns', program: programs.coredns, args: prepareDns(folder) });
      space.startComponent({ name: 'kube-proxy', program: programs['kube-proxy'], args: proxyArgs(folder, network) });
      this.#containerd = await Containerd.start({ programs, space, network, folder });
      const apiServerCertificate = this.plane.kubeletClient.certificateFile;
      const kubeletArgs = prepareKubelet({ folder, network, apiServerCertificate });
      space.startComponent({ name: 'kubelet', program: programs.kubelet, args: kubeletArgs });
      await space.waitFor('the condition Ready', () => isReady(kube));
      await space.waitFor('CoreDNS', () => answers(`http://${network.nodeAddress}:${dnsReadyPort}/ready`));
      await space.waitFor('the Service of the API server', () => accepts(network.apiService, 443));
    } finally {
      kube.close();
    }
  }

  /** Takes in the images of a file, as `docker save` writes it. */
  async importImages(file: string): Promise<void> {
    await this.#containerd?.importImages(file);
  }

  /** Ends it with all its pods. */
  async end(): Promise<void> {
    await Promise.all([this.#space.end(), this.#scheduler?.kill()]);
  }

  #startScheduler(): void {
    const { programs, record, onUnexpectedEnd } = this.#options;
    this.#scheduler = new Component({
      name: 'kube-scheduler',
      program: programs['kube-scheduler'],
      args: [
        `--kubeconfig=${join(record.folder, nodeUsers.scheduler.kubeconfig)}`,
        '--leader-elect=false',
        '--secure-port=0',
        '--profiling=false',
      ],
      env: {},
      record,
      onUnexpectedEnd,
    });
    this.#scheduler.start();
  }
}

/** A certificate by which the API server shows the kubelet who it is, signed by itself. */
async function makeKubeletClient({ certificateFile, keyFile }: PlaneForNode['kubeletClient']): Promise<void> {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const holder = ['-subj', '/CN=kube-apiserver', '-addext', 'extendedKeyUsage=clientAuth', '-days', '2'];
  await runTool('openssl', ['req', '-x509', ...holder, ...key, '-out', certificateFile]);
}

function proxyArgs(folder: string, { podRange }: NodeNetwork): string[] {
  return [
    `--kubeconfig=${join(folder, nodeUsers.proxy.kubeconfig)}`,
    `--hostname-override=${nodeName}`,
    '--proxy-mode=iptables',
    `--cluster-cidr=${podRange}`,
    // The size of the table is the whole machine's.
    '--conntrack-max-per-core=0',
    '--conntrack-tcp-timeout-established=0s',
    '--conntrack-tcp-timeout-close-wait=0s',
  ];
}

interface NodeObject {
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function isReady(kube: KubeHttp): Promise<boolean> {
  const node = await kube.find<NodeObject>({ path: `/api/v1/nodes/${nodeName}` });
  const conditions = node?.status.conditions ?? [];
  return conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

async function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 1_000 }).on('timeout', () => void socket.destroy(new Error('silent')));
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
