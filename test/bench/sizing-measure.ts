import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProcess } from '../support/api/server-process.ts';
import { databaseFigures } from './database-figures.ts';
import { takeFanOut } from './fan-out.ts';
import { syncsPerEnvironment } from './fleet.ts';
import { type Contenders, type FleetSite, measureBoth } from './fleet-site.ts';
import { HeapProbe } from './heap-probe.ts';
import { processFigures } from './process-figures.ts';
import { untilIdle } from './reconciles.ts';
import { measureChanges } from './secret-contender.ts';
import { percentile } from './statistics.ts';
import { takeOver } from './takeover.ts';

const settleMs = 3_000;
const auditedChanges = 10;
// Longer than the audit waits for further entries.
const auditMs = 1_000;

/** A figure and its floor. */
export interface Beside {
  readonly floor: number;
  readonly keyframe: number;
}

export interface Memory {
  readonly residentBytes: number;
  /** The most that it has been since the start of the process. */
  readonly peakBytes: number;
  /** JavaScript's objects, after the garbage was collected. */
  readonly heapBytes: number;
}

/** What one number of SecretSyncs costs. */
export interface Measurement {
  readonly size: number;
  /** Of the controller that made them. */
  readonly leader: Memory;
  readonly sockets: number;
  readonly apiServerBytes: number;
  readonly databaseBytes: number;
  readonly connections: number;
  /** Missing without a SecretSync. */
  readonly work?: Work;
}

interface Work {
  /** Until all were Ready, counted from none. */
  readonly readyMs: Beside;
  readonly changeMs: { readonly median: Beside; readonly p99: Beside };
  /** Of a change that one SecretSync takes, and of one that a hundred take. */
  readonly auditRows: { readonly one: Beside; readonly hundred: Beside };
  readonly standby: Memory;
  readonly successor: Memory;
  readonly takeoverMs: Beside;
  readonly written: number;
}

/** A controller and the probe that it was started with. */
export interface ProbedServer {
  readonly server: ServerProcess;
  readonly probe: HeapProbe;
}

export type SizingSite = FleetSite & Contenders;

/** What the processes hold now. */
export async function measureState(
  { fleet, apiServer, place }: FleetSite,
  { server, probe }: ProbedServer,
): Promise<Omit<Measurement, 'work'>> {
  await untilIdle(server, settleMs);
  const { bytes, connections } = await databaseFigures(place.database);
  return {
    size: fleet.size,
    sockets: processFigures(server.captured.pid).sockets,
    leader: await memoryOf({ server, probe }),
    apiServerBytes: processFigures(apiServer).residentBytes,
    databaseBytes: bytes,
    connections,
  };
}

async function memoryOf({ server, probe }: ProbedServer): Promise<Memory> {
  // Before the collection, which makes it smaller than users see it.
  const { residentBytes, peakBytes } = processFigures(server.captured.pid);
  return { residentBytes, peakBytes, heapBytes: await probe.heapBytes() };
}

/** Milliseconds until so many SecretSyncs more were Ready, beside as many Secrets and statuses of a bare loop. */
export async function measureReady({ fleet, floorObjects }: SizingSite, count: number): Promise<Beside> {
  // The floor's objects go again: the API server would hold them as well. Its rate does not depend on their number.
  const floorPerSecond = await floorObjects.create(syncsPerEnvironment);
  await floorObjects.remove(syncsPerEnvironment);
  const perSecond = await fleet.add(count);
  return { floor: (count * 1000) / floorPerSecond, keyframe: (count * 1000) / perSecond };
}

/** All the work with the objects that exist, and a new leader at the end: returns it as well. */
export async function measureWork(
  resources: AsyncDisposableStack,
  site: SizingSite,
  leader: ProbedServer,
): Promise<{ readonly work: Omit<Work, 'readyMs'>; readonly successor: ProbedServer }> {
  const changes = await measureBoth(site.contenders);
  const beside = (share: number): Beside => ({
    floor: percentile(changes.floor, share),
    keyframe: percentile(changes.keyframe, share),
  });
  const auditRows = await measureAudit(site, leader.server);
  const probe = await HeapProbe.make();
  const standbys: Memory[] = [];
  const takeover = await takeOver(resources, site, {
    leader: leader.server,
    settleMs,
    nodeArgs: probe.nodeArgs,
    whileStandingBy: async (server) => {
      await pause(settleMs);
      standbys.push(await memoryOf({ server, probe }));
    },
  });
  const successor = { server: takeover.successor, probe };
  const [standby] = standbys;
  if (standby === undefined) throw new Error('no controller stood by');
  const work = {
    changeMs: { median: beside(0.5), p99: beside(0.99) },
    auditRows,
    standby,
    successor: await memoryOf(successor),
    takeoverMs: {
      floor: (site.fleet.size * 1000) / takeover.floorPerSecond,
      keyframe: takeover.durationMs,
    },
    written: takeover.written,
  };
  return { work, successor };
}

/** The floor is an entry for the change itself and one for each read. */
async function measureAudit(site: SizingSite, leader: ServerProcess): Promise<Work['auditRows']> {
  const before = await countAuditRows(site, leader);
  await measureChanges(site.contenders.keyframe, auditedChanges, () => 25);
  const between = await countAuditRows(site, leader);
  const [environment] = site.fleet.environments;
  if (environment === undefined) throw new Error('the fleet has no environment');
  await takeFanOut(site.fleet, environment, randomUUID());
  const after = await countAuditRows(site, leader);
  return {
    one: { floor: 2, keyframe: (between - before) / auditedChanges },
    hundred: { floor: 1 + site.fleet.secretsOf(environment).length, keyframe: after - between },
  };
}

async function countAuditRows({ place }: SizingSite, leader: ServerProcess): Promise<number> {
  await untilIdle(leader, auditMs);
  const { rows } = await place.database.query<{ count: number }>('SELECT count(*)::float8 AS count FROM audit_entry');
  return rows[0]?.count ?? 0;
}
