import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { readSizes } from './bench-size.ts';
import { syncsPerEnvironment } from './fleet.ts';
import { addContenders, startFleetSite } from './fleet-site.ts';
import { HeapProbe } from './heap-probe.ts';
import { drawPlot } from './plot.ts';
import { measureDisk } from './sizing-disk.ts';
import { diskTableOf, plotsOf, tableOf } from './sizing-figures.ts';
import { type Measurement, type ProbedServer, measureReady, measureState, measureWork } from './sizing-measure.ts';

const sizes = { usual: [100, 400, 1_000], full: [100, 400, 1_000, 4_000, 10_000] };

/**
 * What more and more SecretSyncs cost: the figures of docs/sizing.md, as a table and as plots in docs/plots, or in the folder
 * that KEYFRAME_BENCH_OUTPUT names. KEYFRAME_BENCH_SIZE says which numbers of SecretSyncs.
 */
export async function sizing(): Promise<void> {
  const wanted = readSizes(sizes);
  const folder = process.env['KEYFRAME_BENCH_OUTPUT'] ?? join(checkoutDirectory, 'docs', 'plots');
  await using resources = new AsyncDisposableStack();
  const probe = await HeapProbe.make();
  const fleetSite = await startFleetSite(resources, { controller: probe });
  let leader: ProbedServer = { server: fleetSite.reconciling, probe };
  const measurements: Measurement[] = [await measureState(fleetSite, leader)];
  const site = { ...fleetSite, ...(await addContenders(resources, fleetSite)) };
  // What the bare loop of a takeover reads.
  await site.floorObjects.create(syncsPerEnvironment);
  const readyMs = { floor: 0, keyframe: 0 };
  for (const size of wanted) {
    const added = await measureReady(site, size - site.fleet.size);
    readyMs.floor += added.floor;
    readyMs.keyframe += added.keyframe;
    const state = await measureState(site, leader);
    const { work, successor } = await measureWork(resources, site, leader);
    measurements.push({ ...state, work: { ...work, readyMs: { ...readyMs } } });
    console.log(`${size} SecretSyncs are measured; the new leader wrote ${work.written} objects.`);
    leader = successor;
  }
  write(folder, `${tableOf(measurements)}\n${diskTableOf(await measureDisk(fleetSite))}`, plotsOf(measurements));
}

function write(folder: string, tables: string, plots: ReturnType<typeof plotsOf>): void {
  mkdirSync(folder, { recursive: true });
  for (const [file, plot] of plots) writeFileSync(join(folder, file), drawPlot(plot));
  writeFileSync(
    join(folder, 'sizing.md'),
    `# Figures of sizing\n\nWritten by \`npm run bench -- sizing\`; [sizing.md](../sizing.md) explains them.\n\n${tables}`,
  );
  console.log(`\n${tables}\n${plots.size} plots and the tables are in ${folder}.`);
}
