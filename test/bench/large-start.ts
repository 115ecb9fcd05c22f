import { readFileSync } from 'node:fs';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { readSize } from './bench-size.ts';
import { concurrency, isReady, syncsPerEnvironment } from './fleet.ts';
import { type FleetSite, startFleetSite } from './fleet-site.ts';
import { isLeading, reconcilesOf } from './reconciles.ts';
import { throughput } from './rounds.ts';
import { createSync } from './secret-contender.ts';
import { startReconciling } from './site-processes.ts';
import { percentile } from './statistics.ts';

const defaultSize = 1_000;
// More than a reconcile reserves memory for at first.
const keysOfEnvironment = 4_000;
const rounds = 3;

interface Start {
  /** From the moment in which it leads until it has verified every SecretSync. */
  readonly durationMs: number;
  /** Processor time of the process in the same time. */
  readonly processorMs: number;
}

/**
 * A controller that starts beside many SecretSyncs of larger environments, each of which needs more memory than a reconcile
 * reserves at first. KEYFRAME_BENCH_PROGRAM names the program of another build, which takes turns with this one.
 */
export async function largeStart(): Promise<void> {
  const size = readSize({ usual: defaultSize, min: syncsPerEnvironment });
  await using resources = new AsyncDisposableStack();
  const site = await startFleetSite(resources);
  await fill(site, size);
  await site.reconciling.stop();
  const other = process.env['KEYFRAME_BENCH_PROGRAM'];
  const programs = new Map([
    ['this build', undefined],
    ...(other === undefined ? [] : [['the other', other] as const]),
  ]);
  const samples = new Map([...programs.keys()].map((name) => [name, [] as Start[]]));
  for (let round = 0; round < rounds; round += 1) {
    const order = [...programs];
    for (const [name, program] of round % 2 === 0 ? order : order.toReversed())
      samples.get(name)?.push(await start(site, size, program));
  }
  for (const [name, starts] of samples) report(`${size} SecretSyncs after a start, ${name}`, starts);
}

/** SecretSyncs that take ten keys of a larger environment each. */
async function fill({ fleet }: FleetSite, size: number): Promise<void> {
  const values = Object.fromEntries(
    Array.from({ length: keysOfEnvironment }, (_, index) => [`KEY_${String(index).padStart(4, '0')}`, 'x'.repeat(20)]),
  );
  const environments: ApiEnvironment[] = [];
  while (environments.length * syncsPerEnvironment < size) environments.push(await fleet.makeEnvironment(values));
  const keys: string[] = [];
  await throughput(size, concurrency, async () => {
    const index = keys.length;
    const namespace = fleet.namespaces[index % fleet.namespaces.length] ?? '';
    const name = `large-${index}`;
    keys.push(`${namespace}/${name}`);
    const environmentRef = environments[Math.floor(index / syncsPerEnvironment)]?.ref;
    await createSync(namespace, name, { environmentRef, keys: { include: ['KEY_000?'] } });
  });
  await fleet.syncs.all('be Ready', keys, isReady);
}

async function start({ place, env }: FleetSite, size: number, program: string | undefined): Promise<Start> {
  await using resources = new AsyncDisposableStack();
  const controller = await startReconciling(resources, place, { role: 'controller', env, program });
  await waitFor('it to lead', () => isLeading(controller), { pollMs: 20, timeoutMs: 60_000 });
  const [startedAt, before] = [performance.now(), processorMs(controller.captured.pid)];
  await waitFor('every SecretSync to be verified', async () => (await reconcilesOf(controller, 'SecretSync')) >= size, {
    pollMs: 100,
    timeoutMs: 300_000,
  });
  const figures = {
    durationMs: performance.now() - startedAt,
    processorMs: processorMs(controller.captured.pid) - before,
  };
  await controller.stop();
  return figures;
}

/** Processor time that a process has used, user and system. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(fields[11]) + Number(fields[12]);
  return ticks * 10;
}

function report(title: string, starts: readonly Start[]): void {
  const shown = (field: keyof Start): string => {
    const values = starts.map((one) => one[field] / 1000);
    return `${percentile(values, 0.5).toFixed(2)} s (${Math.min(...values).toFixed(2)}–${Math.max(...values).toFixed(2)})`;
  };
  console.log(`${title.padEnd(48)}${shown('durationMs')}, processor ${shown('processorMs')}`);
}
