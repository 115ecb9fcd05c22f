import { setTimeout as pause } from 'node:timers/promises';
import { builtImage } from '../support/node/built-image.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { startSharedNode, stopSharedNode } from '../support/node/running-node.ts';
import { compare, type Contestant, timed } from './rounds.ts';

const rounds = 8;
const pollMs = 20;
const limitMs = 120_000;
const sizeAim = 200;

/**
 * How large the image is besides its base, and how long one more pod of a Deployment takes until it is ready, on a real node: of
 * the chart, with its init container, and of the floor, a bare HTTP server on the same base that is probed as often.
 */
export async function image(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  resources.defer(() => stopSharedNode());
  await startSharedNode();
  const { ownBytes, baseBytes } = await builtImage();
  const site = new NodeSite(resources);
  const release = await Release.install(site, resources);
  const namespace = await site.makeNamespace();
  await site.deploy(namespace, { name: 'floor', replicas: 1, script: floorServer, port: 8701, probes: 'chart' });
  const missed = ownBytes < sizeAim * 1e6 ? '' : '  MISSED';
  console.log(
    `\nimage: ${megabytes(ownBytes)} MB besides its base of ${megabytes(baseBytes)} MB  aim < ${sizeAim}${missed}`,
  );
  await compare({
    title: 'one more pod, until it is ready',
    rounds,
    unit: 'ms',
    floor: podStart(site, namespace, 'floor'),
    keyframe: podStart(site, release.namespace, 'keyframe'),
    aim: 3,
  });
}

const floorServer = `require('node:http').createServer((request, response) => response.end()).listen(8701);
process.on('SIGTERM', () => process.exit())`;

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** Scales a Deployment from one pod to two and back: milliseconds until the second is ready. */
function podStart(site: NodeSite, namespace: string, name: string): Contestant {
  const scale = (replicas: number): Promise<unknown> =>
    site.kube.json({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${namespace}/deployments/${name}/scale`,
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas } },
    });
  return async () => {
    const durationMs = await timed(async () => {
      await scale(2);
      await untilCounts(site, { namespace, name }, { ready: 2, all: 2 });
    });
    await scale(1);
    await untilCounts(site, { namespace, name }, { ready: 1, all: 1 });
    return durationMs;
  };
}

interface Counts {
  readonly ready: number;
  readonly all: number;
}

async function untilCounts(
  site: NodeSite,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  wanted: Counts,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  const owner = new RegExp(`^${name}-[0-9a-z]+-[0-9a-z]{5}$`);
  while (Date.now() < deadline) {
    const { items } = await site.kube.json<{ items: readonly Pod[] }>({ path: `/api/v1/namespaces/${namespace}/pods` });
    const pods = items.filter(({ metadata }) => owner.test(metadata.name));
    const ready = pods.filter(({ status }) => status.conditions?.some(isReady) === true).length;
    if (ready === wanted.ready && pods.length === wanted.all) return;
    await pause(pollMs);
  }
  throw new Error(`The Deployment ${name} did not get ${wanted.all} pods that are ready.`);
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

interface Pod {
  readonly metadata: { readonly name: string };
  readonly status: { readonly conditions?: readonly Condition[] };
}

function isReady({ type, status }: Condition): boolean {
  return type === 'Ready' && status === 'True';
}
