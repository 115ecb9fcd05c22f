import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../support/api/api-client.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { Commits, fill, largeTemplate, manySources } from '../support/cluster/full-environment.ts';
import { MemoryLimit } from '../support/faults/memory-limit.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { type ProcessTimes, processTimes, usedBetween } from './process-times.ts';
import {
  type Contender,
  createSync,
  createToken,
  floorContender,
  keyframeContender,
  measureChanges,
  startSecretPlace,
} from './secret-contender.ts';
import { startProcesses } from './site-processes.ts';
import { reconcilesOf, untilIdle } from './reconciles.ts';
import { percentile, summaryHeader, summaryLine } from './statistics.ts';

const rounds = 3;
const changesPerRound = 20;
const limitBytes = 512 * 1024 * 1024;
const counts = { manySources: 16, largeTemplates: 100, edited: 12 };
const restMs = 1_000;
// Longer than what the controller takes for a burst.
const warmUpMs = 6_000;
// Not in step with the neighbour's commits.
const pauseMs = (): number => 20 + Math.random() * 120;

/** What the neighbour does while a quiet namespace is measured. */
interface Load {
  readonly name: string;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

interface Measured {
  readonly keyframe: number[];
  readonly floor: number[];
  readonly times: ProcessTimes[];
  elapsedMs: number;
  reconciles: number;
}

/**
 * How long a change of one namespace takes to its Secret while another namespace has the controller do as much as its
 * resources let it. The process reconciles and serves the API with the memory that the chart gives by default. The loads,
 * among them none, come in turn in each round. The floor is measured under each load as well: what is left of the machine.
 */
export async function busyNeighbour(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const place = await startSecretPlace(resources);
  const memory = MemoryLimit.create(resources, `keyframe-bench-${process.pid}`, limitBytes);
  const { client, reconciling } = await startProcesses(resources, place, { role: 'all', memory });
  const keyframe = await keyframeContender(resources, place, client);
  const floor = await floorContender(resources, place);
  const loads = await makeLoads(resources, client);
  for (const load of loads) resources.defer(() => load.stop());
  await untilIdle(reconciling, restMs);
  const measured = new Map<string, Measured>();
  for (let round = 0; round < rounds; round += 1) {
    for (const load of loads) {
      const into = measured.get(load.name) ?? { keyframe: [], floor: [], times: [], elapsedMs: 0, reconciles: 0 };
      measured.set(load.name, into);
      await measureUnder(load, into, { keyframe, floor, reconciling });
    }
  }
  report(measured);
}

interface Sides {
  readonly keyframe: Contender;
  readonly floor: Contender;
  readonly reconciling: ServerProcess;
}

async function measureUnder(load: Load, into: Measured, { keyframe, floor, reconciling }: Sides): Promise<void> {
  load.start();
  await pause(warmUpMs);
  const [startedAt, before, reconciledBefore] = [performance.now(), processTimes(), await reconcilesOf(reconciling)];
  // In turn, so that both meet the same moments of the load.
  for (let change = 0; change < changesPerRound; change += 1) {
    into.keyframe.push(...(await measureChanges(keyframe, 1, pauseMs)));
    into.floor.push(...(await measureChanges(floor, 1, pauseMs)));
  }
  into.times.push(usedBetween(before, processTimes()));
  into.elapsedMs += performance.now() - startedAt;
  into.reconciles += (await reconcilesOf(reconciling)) - reconciledBefore;
  await load.stop();
  await untilIdle(reconciling, restMs);
}

async function makeLoads(resources: AsyncDisposableStack, client: ApiClient): Promise<readonly Load[]> {
  const namespace = await createNamespace();
  resources.defer(() => discardNamespace(namespace));
  const [few, many] = [await client.makeEnvironment(), await client.makeEnvironment()];
  for (const environment of [few, many]) {
    await fill(environment);
    const named = { environment, tokenSecretName: await createToken(namespace, environment) };
    const prefix = environment === few ? 'few' : 'many';
    for (let made = 0; made < counts.manySources; made += 1)
      await createSync(namespace, `${prefix}-${made}`, manySources(named, made));
    if (environment === few) continue;
    for (let made = 0; made < counts.largeTemplates; made += 1)
      await createSync(namespace, `large-${made}`, largeTemplate(named, made));
  }
  return [
    { name: 'alone', start: () => {}, stop: () => Promise.resolve() },
    commitLoad(`${counts.manySources} with 8 full sources`, new Commits(few)),
    commitLoad(`and ${counts.largeTemplates} large templates`, new Commits(many)),
    await editLoad(namespace, client),
  ];
}

function commitLoad(name: string, commits: Commits): Load {
  return { name, start: () => commits.start(), stop: () => commits.stop() };
}

/** Annotates small SecretSyncs, each again as soon as the API server has taken the last annotation. */
async function editLoad(namespace: string, client: ApiClient): Promise<Load> {
  const environment = await client.makeEnvironment();
  await environment.change({ VALUE: 'first' });
  const tokenSecretRef = { name: await createToken(namespace, environment) };
  const names = Array.from({ length: counts.edited }, (_, index) => `edited-${index}`);
  for (const name of names) await createSync(namespace, name, { environmentRef: environment.ref, tokenSecretRef });
  let end = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const edit = async (name: string, { signal }: AbortController): Promise<void> => {
    const path = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs/${name}`;
    const contentType = 'application/merge-patch+json';
    while (!signal.aborted) {
      const body = { metadata: { annotations: { 'keyframe.dev/reconcile-at': randomUUID() } } };
      await adminClient().json({ method: 'PATCH', path, contentType, body });
    }
  };
  return {
    name: `${counts.edited} edited without pause`,
    start: () => {
      end = new AbortController();
      running = Promise.all(names.map((name) => edit(name, end)));
    },
    stop: async () => {
      end.abort();
      await running;
    },
  };
}

function report(measured: ReadonlyMap<string, Measured>): void {
  const alone = measured.get('alone');
  if (alone === undefined) throw new Error('nothing was measured without a load');
  const lines = [...measured].map(([name, { keyframe, floor }]) => {
    const ratio = (samples: readonly number[], usual: readonly number[]): string =>
      (percentile(samples, 0.5) / percentile(usual, 0.5)).toFixed(2);
    return `${summaryLine(name, keyframe)}   ${ratio(keyframe, alone.keyframe)} of alone
${summaryLine('  floor', floor)}   ${ratio(floor, alone.floor)} of alone, keyframe / floor ${ratio(keyframe, floor)}`;
  });
  console.log(`
From the commit to the watch event of a quiet namespace's Secret (${rounds} interleaved rounds of ${changesPerRound} changes; aim: the median is at most 2 of alone)
${summaryHeader}
${lines.join('\n')}

Cores used by each program, and reconciles in a second
${[...measured].map(([name, one]) => usageLine(name, one)).join('\n')}`);
}

function usageLine(name: string, { times, elapsedMs, reconciles }: Measured): string {
  const programs = [...new Set(times.flatMap((one) => [...one.keys()]))].toSorted();
  const cores = programs.map((program) => {
    const usedMs = times.reduce((sum, one) => sum + (one.get(program) ?? 0), 0);
    return `${program} ${(usedMs / elapsedMs).toFixed(2)}`;
  });
  return `${name.padEnd(28)}${((reconciles * 1000) / elapsedMs).toFixed(1)}/s   ${cores.join('  ')}`;
}
