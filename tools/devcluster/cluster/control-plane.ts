import { setTimeout as sleep } from 'node:timers/promises';
import type { controlPlaneBinaries } from './binaries.ts';
import { Component } from './component.ts';
import {
  authorityOf,
  type ClusterUser,
  type ControlPlaneFiles,
  writeControlPlaneFiles,
  writeKubeconfigs,
} from './control-plane-files.ts';
import { KubeHttp } from './kube-http.ts';
import type { NetworkSpace } from './network-space.ts';
import type { RunRecord } from './run-record.ts';
import { freePort } from '../../free-port.ts';

export type ControlPlanePrograms = Readonly<Record<(typeof controlPlaneBinaries)[number], string>>;

export interface ControlPlaneOptions {
  readonly programs: ControlPlanePrograms;
  readonly record: RunRecord;
  /** Whether etcd waits until its writes are on the disk, as it should where data must outlive a crash of the machine. */
  readonly durable: boolean;
  /** What the cluster is to be for a node that runs pods; without it there is none. */
  readonly forNode?: PlaneForNode;
  /** The network that it is in; that of this machine if absent. */
  readonly network?: NetworkSpace;
  /** Called before the controllers start, when the API server answers. */
  readonly prepare: (kubeconfig: string) => Promise<void>;
  /** Called when a component ends without a request. */
  readonly onUnexpectedEnd: (message: string) => void;
}

/** What a control plane has to know of its node. */
export interface PlaneForNode {
  /** The address of this machine that the node and its pods reach, instead of 127.0.0.1. */
  readonly address: string;
  readonly serviceRange: string;
  /** By which the API server shows the kubelet who it is. */
  readonly kubeletClient: { readonly certificateFile: string; readonly keyFile: string };
  /** Who else connects. */
  readonly users: readonly ClusterUser[];
}

const startPatienceMs = 120_000;
const pollMs = 50;
const portTries = 3;
const loopback = '127.0.0.1';

// What this project's tests and `npm start` rely on where there is no node: pods are made and never run, unless a test plays
// the kubelet. A node wants them all.
const controllers = [
  'clusterrole-aggregation-controller',
  'daemonset-controller',
  'deployment-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'replicaset-controller',
  'root-ca-certificate-publisher-controller',
  'serviceaccount-controller',
  'serviceaccount-token-controller',
  'statefulset-controller',
];

/** etcd, kube-apiserver and kube-controller-manager on this machine, reachable on 127.0.0.1 alone, or on the address for its node or network. */
export class ControlPlane {
  readonly files: ControlPlaneFiles;
  readonly #options: ControlPlaneOptions;
  readonly #components: Component[] = [];
  #apiServer: Component | undefined;
  #url = '';
  #serves = false;

  private constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.files = writeControlPlaneFiles(options.record.folder, options.forNode?.users);
  }

  /** Starts all and waits until it serves. Throws ClusterError with the end of the guilty component's log. */
  static async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    const plane = new ControlPlane(options);
    try {
      await plane.#startAll();
      return plane;
    } catch (error) {
      await plane.end();
      throw error;
    }
  }

  get url(): string {
    return this.#url;
  }

  /** Kills the API server without warning, as a crash of it would; the rest goes on. */
  async killApiServer(): Promise<void> {
    await this.#apiServer?.kill();
  }

  /** Starts the killed API server again, at the same address and with the same data, and waits until it serves. */
  async startApiServer(): Promise<void> {
    this.#apiServer?.start();
    await this.#waitFor(() => this.#isReady(), 'did not become ready');
  }

  /** Kills all of it. The data go with the run, so there is nothing that an orderly end would save. */
  async end(): Promise<void> {
    await Promise.all(this.#components.map((component) => component.kill()));
  }

  async #startAll(): Promise<void> {
    this.#startComponent('etcd', etcdArgs(this.files, this.#options.durable));
    await this.#startApiServerOnFreePort();
    await this.#options.prepare(this.files.adminKubeconfig);
    this.#startComponent('kube-controller-manager', controllerManagerArgs(this.files, this.#options.forNode));
    await this.#waitFor(() => this.#hasAccounts(), 'started no controllers');
    this.#serves = true;
  }

  #startComponent(name: keyof ControlPlanePrograms, args: readonly string[]): Component {
    const { programs, record, network, onUnexpectedEnd } = this.#options;
    // Until all serve, the start itself waits for the end of a component and reports it.
    const report = (message: string): void => {
      if (this.#serves) onUnexpectedEnd(message);
    };
    // Nothing of this process's own environment: etcd takes settings from it.
    const env = name === 'kube-apiserver' ? apiServerEnv : {};
    const command = { program: programs[name], args };
    const started = network?.command(command) ?? command;
    const component = new Component({ name, ...started, env, record, onUnexpectedEnd: report });
    this.#components.push(component);
    component.start();
    return component;
  }

  // Between our look for a free port and the server's use of it another process may take it.
  async #startApiServerOnFreePort(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const port = await freePort();
      const { forNode, network } = this.#options;
      const address = forNode?.address ?? network?.address ?? loopback;
      this.#url = `https://${address}:${port}`;
      const apiServer = this.#startComponent('kube-apiserver', apiServerArgs(this.files, { address, port }, forNode));
      this.#apiServer = apiServer;
      try {
        await this.#waitFor(() => authorityOf(this.files) !== undefined, 'made no certificate');
        writeKubeconfigs(this.files, this.#url);
        return await this.#waitFor(() => this.#isReady(), 'did not become ready');
      } catch (error) {
        if (tries === portTries || !apiServer.logContains('address already in use')) throw error;
        await apiServer.kill();
        this.#components.splice(this.#components.indexOf(apiServer), 1);
      }
    }
  }

  async #waitFor(condition: () => boolean | Promise<boolean>, complaint: string): Promise<void> {
    const deadlineMs = Date.now() + startPatienceMs;
    while (!(await condition())) {
      for (const component of this.#components) component.requireRunning();
      const last = this.#components.at(-1);
      if (Date.now() > deadlineMs && last !== undefined)
        throw last.failure(`${complaint} in ${startPatienceMs / 1000} s`);
      await sleep(pollMs);
    }
  }

  #isReady(): Promise<boolean> {
    return this.#answersOk('/readyz');
  }

  // The first thing that the controllers do for every namespace.
  #hasAccounts(): Promise<boolean> {
    return this.#answersOk('/api/v1/namespaces/default/serviceaccounts/default');
  }

  async #answersOk(path: string): Promise<boolean> {
    const client = new KubeHttp(this.files.adminKubeconfig);
    try {
      return (await client.send({ path })).status === 200;
    } catch {
      return false;
    } finally {
      client.close();
    }
  }
}

// A socket in the private folder: etcd authenticates no client, and on a port every user of the machine could read Secrets.
function etcdArgs({ etcdData, etcdSocket }: ControlPlaneFiles, durable: boolean): string[] {
  const peers = 'unix://etcd-peers.sock';
  return [
    `--data-dir=${etcdData}`,
    `--listen-client-urls=unix://${etcdSocket}`,
    `--advertise-client-urls=unix://${etcdSocket}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
    ...(durable ? [] : ['--unsafe-no-fsync']),
  ];
}

function apiServerArgs(
  files: ControlPlaneFiles,
  { address, port }: { readonly address: string; readonly port: number },
  forNode: PlaneForNode | undefined,
): string[] {
  return [
    `--cert-dir=${files.certificates}`,
    `--etcd-servers=unix://${files.etcdSocket}`,
    `--bind-address=${address}`,
    // Found out by the default route otherwise, without which the server would not start.
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.accountPublicKey}`,
    `--service-account-signing-key-file=${files.accountKey}`,
    ...(forNode === undefined ? withoutNodeArgs : withNodeArgs(forNode)),
    `--token-auth-file=${files.tokens}`,
    `--authentication-config=${files.authentication}`,
    `--audit-policy-file=${files.auditPolicy}`,
    `--audit-log-path=${files.auditLog}`,
    // A reader follows the file; it goes with the run.
    '--audit-log-maxsize=0',
    '--allow-privileged=true',
    '--profiling=false',
  ];
}

// A fifth of the API server's time would go into collecting a small heap often. Near the limit it is collected as usual.
const apiServerEnv = { GOGC: '400', GOMEMLIMIT: '1GiB' };

const withoutNodeArgs = [
  '--service-cluster-ip-range=10.0.0.0/24',
  '--authorization-mode=RBAC',
  '--endpoint-reconciler-type=none',
];

function withNodeArgs({ serviceRange, kubeletClient }: PlaneForNode): string[] {
  return [
    `--service-cluster-ip-range=${serviceRange}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-client-certificate=${kubeletClient.certificateFile}`,
    `--kubelet-client-key=${kubeletClient.keyFile}`,
  ];
}

function controllerManagerArgs(files: ControlPlaneFiles, forNode: PlaneForNode | undefined): string[] {
  return [
    `--kubeconfig=${files.controllerManagerKubeconfig}`,
    `--controllers=${forNode === undefined ? controllers.join(',') : '*'}`,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${files.accountKey}`,
    `--root-ca-file=${files.caFile}`,
    '--leader-elect=false',
    '--secure-port=0',
    '--profiling=false',
    // The defaults make test namespaces wait for their deletion.
    '--kube-api-qps=100',
    '--kube-api-burst=200',
  ];
}
