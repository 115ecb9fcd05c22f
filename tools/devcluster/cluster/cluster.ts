import { randomBytes } from 'node:crypto';
import { accessSync, constants, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlPlaneBinaries, kubernetesVersion, nodeBinaries } from './binaries.ts';
import { type BuildOptions, ensureBinaries } from './build.ts';
import { cacheFolder } from './cache-folder.ts';
import { ClusterError } from './cluster-error.ts';
import { ControlPlane, type ControlPlanePrograms } from './control-plane.ts';
import { installCustomResources } from './custom-resources.ts';
import { type ClusterCandidate, type ClusterSource, findCandidates, type PassedOver } from './discovery.ts';
import { startKind } from './kind.ts';
import { findKubectl } from './kubectl-program.ts';
import { KubeHttp } from './kube-http.ts';
import { authorityIn } from './kubeconfig.ts';
import { ClusterNode } from './node/node.ts';
import { NetworkSpace } from './network-space.ts';
import { endOnSignals, onProcessEnd } from './process-end.ts';
import { publishCluster } from './published-cluster.ts';
import { endAbandonedRuns, RunRecord } from './run-record.ts';
import { thisMachine } from './this-machine.ts';

export interface ClusterOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The ways to a cluster that may be taken; all if absent. */
  readonly sources?: readonly ClusterSource[];
  /** Where progress is reported; standard output if absent. */
  readonly output?: BuildOptions['output'];
  /** A folder of CustomResourceDefinitions to install; none if absent. */
  readonly customResources?: string;
  /** A folder in which the cluster is made known while it runs; nowhere if absent. */
  readonly publishTo?: string;
  /** Whether it has a node that runs pods, which only a cluster of our own build can have (false if absent); see `nodeFault`. */
  readonly withNode?: boolean;
  /** Whether it is in a network of its own, which kind cannot be (false if absent); see `spaceFault`. */
  readonly isApart?: boolean;
  /** Whether the data must survive a crash of the machine; false if absent. */
  readonly durable?: boolean;
  /**
   * Whether SIGINT, SIGTERM and SIGHUP end the process, after its cluster (true if absent). A program that handles them itself
   * says false, and has to exit in the end.
   */
  readonly endOnSignals?: boolean;
  /** Called when a part of the running cluster ends without a request. */
  readonly onUnexpectedEnd?: (message: string) => void;
}

export interface Cluster {
  readonly how: ClusterSource;
  /** The administrator's. */
  readonly kubeconfig: string;
  readonly url: string;
  /** Absent where the system's own authorities vouch for the server. */
  readonly caFile: string | undefined;
  /** JSON lines, level Metadata. Absent for an explicit cluster that does not name its own. */
  readonly auditLog: string | undefined;
  /** Private to this run, and removed with it. */
  readonly runFolder: string;
  /** Where it is made known: the path of the kubeconfig there. */
  readonly published: string | undefined;
  readonly passedOver: readonly PassedOver[];
  /** Only for a control plane that was built here: ends its API server as a crash would, and starts it again. */
  readonly apiServer: { kill(): Promise<void>; start(): Promise<void> } | undefined;
  /** Only where one was asked for. */
  readonly node: ClusterNode | undefined;
  /** Only if it was asked for. */
  readonly network: NetworkSpace | undefined;
  /** Ends all that was started, and removes it; an explicit cluster is left as it is. */
  stop(): Promise<void>;
}

/** What the ways to a cluster have in common once it runs. */
interface Started {
  readonly kubeconfig: string;
  readonly auditLog: string | undefined;
  readonly apiServer?: Cluster['apiServer'];
  readonly node?: ClusterNode;
  readonly network?: NetworkSpace;
  /** Ends its processes; the rest goes with the record. */
  readonly end?: () => Promise<void>;
}

interface Start {
  readonly record: RunRecord;
  readonly id: string;
  readonly env: NodeJS.ProcessEnv;
  readonly options: ClusterOptions;
}

const explicitPatienceMs = 15_000;

/**
 * Starts a Kubernetes, or finds the one that KEYFRAME_TEST_KUBECONFIG names: the first of `clusterSources` that can be had.
 * First it ends what killed runs have left behind. Throws ClusterError that says what is wrong and what to install.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { env = process.env } = options;
  endAbandonedRuns(cacheFolder(env), env);
  const sources = options.withNode === true || options.isApart === true ? (['built'] as const) : options.sources;
  const { candidates, passedOver } = findCandidates(thisMachine(env), kubernetesVersion(), sources);
  for (const [index, candidate] of candidates.entries()) {
    try {
      return await startCandidate(candidate, env, passedOver, options);
    } catch (error) {
      // Where Docker can't fetch kind's image, the next way may still work.
      const isLast = index === candidates.length - 1;
      if (candidate.source !== 'kind' || isLast || !(error instanceof ClusterError)) throw error;
      passedOver.push({ source: 'kind', reason: error.message });
    }
  }
  throw new ClusterError(`No Kubernetes can be had here. ${describePassedOver(passedOver)}`);
}

/** One line that says which ways to a cluster were not taken, and why. */
export function describePassedOver(passedOver: readonly PassedOver[]): string {
  return `Not taken: ${passedOver.map(({ source, reason }) => `${source} (${reason})`).join('; ')}.`;
}

async function startCandidate(
  candidate: ClusterCandidate,
  env: NodeJS.ProcessEnv,
  passedOver: readonly PassedOver[],
  options: ClusterOptions,
): Promise<Cluster> {
  const releaseSignals = options.endOnSignals === false ? () => undefined : endOnSignals();
  try {
    const programs = await programsFor(candidate, env, options);
    const id = randomBytes(6).toString('hex');
    const record = RunRecord.create(cacheFolder(env), id, env);
    const forgetCleanUp = onProcessEnd(() => record.end());
    const release = (): void => {
      record.end();
      forgetCleanUp();
      releaseSignals();
    };
    try {
      const started = await start(candidate, programs, { record, id, env, options });
      return describe(candidate.source, started, record, { passedOver, publishTo: options.publishTo, release });
    } catch (error) {
      release();
      throw error;
    }
  } catch (error) {
    releaseSignals();
    throw error;
  }
}

/** The programs of a control plane that was built here; undefined for a cluster that comes with its own. */
async function programsFor(
  candidate: ClusterCandidate,
  env: NodeJS.ProcessEnv,
  { output = process.stdout, withNode = false, publishTo }: ClusterOptions,
): Promise<ControlPlanePrograms | undefined> {
  // All at once, so that the reported time is that of all.
  if (withNode) return ensureBinaries([...controlPlaneBinaries, ...nodeBinaries], { env, output });
  if (candidate.source === 'built') {
    // A user at a terminal needs kubectl next: it must not be compiled in the middle of the first command.
    const forUsers = publishTo === undefined || findKubectl(env) !== undefined ? [] : (['kubectl'] as const);
    return ensureBinaries([...controlPlaneBinaries, ...forUsers], { env, output });
  }
  if (candidate.source !== 'assets') return undefined;
  const { folder, hasControllerManager } = candidate;
  const own = { etcd: join(folder, 'etcd'), 'kube-apiserver': join(folder, 'kube-apiserver') };
  const controllerManager = hasControllerManager
    ? { 'kube-controller-manager': join(folder, 'kube-controller-manager') }
    : await ensureBinaries(['kube-controller-manager'], { env, output });
  return { ...own, ...controllerManager };
}

async function start(
  candidate: ClusterCandidate,
  programs: ControlPlanePrograms | undefined,
  way: Start,
): Promise<Started> {
  if (programs !== undefined) return startControlPlane(programs, way);
  const started =
    candidate.source === 'explicit' ? await findExplicit(candidate.kubeconfig, way.env) : await createKind(way);
  await prepare(started.kubeconfig, way.options);
  return started;
}

async function startControlPlane(programs: ControlPlanePrograms, way: Start): Promise<Started> {
  const { record, options } = way;
  const onUnexpectedEnd = (message: string): void => options.onUnexpectedEnd?.(message);
  const node = options.withNode === true ? await prepareNode(way) : undefined;
  const network = options.isApart === true ? await NetworkSpace.start(record, onUnexpectedEnd) : undefined;
  const plane = await ControlPlane.start({
    programs,
    record,
    durable: options.durable ?? false,
    ...(node === undefined ? {} : { forNode: node.plane }),
    ...(network === undefined ? {} : { network }),
    // Before the controllers start, or the garbage collector would learn of the new kinds only half a minute later.
    prepare: (kubeconfig) => prepare(kubeconfig, options),
    onUnexpectedEnd,
  });
  await node?.start(plane.files.adminKubeconfig);
  return {
    kubeconfig: plane.files.adminKubeconfig,
    auditLog: plane.files.auditLog,
    apiServer: { kill: () => plane.killApiServer(), start: () => plane.startApiServer() },
    ...(node === undefined ? {} : { node }),
    ...(network === undefined ? {} : { network }),
    end: async () => {
      await node?.end();
      await plane.end();
      await network?.end();
    },
  };
}

async function prepareNode({ record, env, options }: Start): Promise<ClusterNode> {
  const { output = process.stdout, onUnexpectedEnd } = options;
  const programs = await ensureBinaries(nodeBinaries, { env, output });
  return await ClusterNode.prepare({ programs, record, onUnexpectedEnd: (message) => onUnexpectedEnd?.(message) });
}

async function createKind({ record, id, env, options }: Start): Promise<Started> {
  (options.output ?? process.stdout).write('Creating a kind cluster; the first time it fetches its image.\n');
  const onUnexpectedEnd = (message: string): void => options.onUnexpectedEnd?.(message);
  return startKind({ record, name: `keyframe-${id}`, env, onUnexpectedEnd });
}

async function findExplicit(kubeconfig: string, env: NodeJS.ProcessEnv): Promise<Started> {
  const complaint = `KEYFRAME_TEST_KUBECONFIG names ${kubeconfig}`;
  try {
    accessSync(kubeconfig, constants.R_OK);
  } catch (error) {
    throw new ClusterError(`${complaint}, which cannot be read.`, { cause: error });
  }
  try {
    const client = new KubeHttp(kubeconfig);
    await client.json({ path: '/version', timeoutMs: explicitPatienceMs }).finally(() => client.close());
  } catch (error) {
    const { message: reason } = error as Error;
    throw new ClusterError(`${complaint}, whose cluster does not answer: ${reason}.`, { cause: error });
  }
  const auditLog = env['KEYFRAME_TEST_AUDIT_LOG'];
  return { kubeconfig, auditLog: auditLog === '' ? undefined : auditLog };
}

async function prepare(kubeconfig: string, { customResources }: ClusterOptions): Promise<void> {
  if (customResources === undefined) return;
  const client = new KubeHttp(kubeconfig);
  await installCustomResources(client, customResources).finally(() => client.close());
}

function describe(
  how: ClusterSource,
  { kubeconfig, auditLog, apiServer, node, network, end }: Started,
  record: RunRecord,
  way: { passedOver: readonly PassedOver[]; publishTo: string | undefined; release: () => void },
): Cluster {
  if (way.publishTo !== undefined) record.addPublished(way.publishTo);
  const runFolder = record.folder;
  let stopped = false;
  return {
    how,
    kubeconfig,
    url: new KubeHttp(kubeconfig).server,
    caFile: writeAuthority(kubeconfig, runFolder),
    auditLog,
    runFolder,
    published: way.publishTo === undefined ? undefined : publishCluster(way.publishTo, { kubeconfig, runFolder }),
    passedOver: way.passedOver,
    apiServer,
    node,
    network,
    stop: async () => {
      if (stopped) return;
      stopped = true;
      await end?.();
      way.release();
    },
  };
}

function writeAuthority(kubeconfig: string, runFolder: string): string | undefined {
  const authority = authorityIn(kubeconfig);
  if (authority === undefined) return undefined;
  const path = join(runFolder, 'ca.crt');
  writeFileSync(path, authority, { mode: 0o600 });
  return path;
}
