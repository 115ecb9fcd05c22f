/**
 * `npm run bench [-- NAME …]`: the benchmarks, those named or all but the ones that run only if named. They print figures and
 * judge nothing, except for `soak`.
 */
import { busyNeighbour } from './busy-neighbour.ts';
import { changeToSecret } from './change-to-secret.ts';
import { clusterFleet } from './cluster-fleet.ts';
import { clusterReads } from './cluster-reads.ts';
import { clusterSecretSync } from './cluster-secret-sync.ts';
import { clusterStreams } from './cluster-streams.ts';
import { commandStart } from './command-start.ts';
import { image } from './image.ts';
import { largeEnvironment } from './large-environment.ts';
import { largeStart } from './large-start.ts';
import { notify } from './notify.ts';
import { readEnvironment } from './read-environment.ts';
import { scale } from './scale.ts';
import { sizing } from './sizing.ts';
import { snapshotRestore } from './snapshot-restore.ts';
import { soak } from './soak.ts';
import { writeSecret } from './write-secret.ts';

const benches: ReadonlyMap<string, () => Promise<void>> = new Map([
  ['busy-neighbour', busyNeighbour],
  ['change-to-secret', changeToSecret],
  ['cluster-reads', clusterReads],
  ['cluster-secret-sync', clusterSecretSync],
  ['cluster-streams', clusterStreams],
  ['command-start', commandStart],
  ['fleet', clusterFleet],
  ['image', image],
  ['large-environment', largeEnvironment],
  ['large-start', largeStart],
  ['notify', notify],
  ['read-environment', readEnvironment],
  ['scale', scale],
  ['sizing', sizing],
  ['snapshot-restore', snapshotRestore],
  ['soak', soak],
  ['write-secret', writeSecret],
]);
// One takes half an hour, the other one writes into docs.
const onlyIfNamed: ReadonlySet<string> = new Set(['sizing', 'soak']);

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !benches.has(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}: choose among ${[...benches.keys()].join(', ')}.`);
  process.exit(64);
}
for (const [name, run] of benches) {
  if (wanted.length === 0 ? !onlyIfNamed.has(name) : wanted.includes(name)) await run();
}
