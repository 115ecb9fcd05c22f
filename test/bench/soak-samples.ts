import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { ServerProcess } from '../support/api/server-process.ts';
import { databaseFigures } from './database-figures.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import type { Allowance, Sample } from './flatness.ts';
import type { HeapProbe } from './heap-probe.ts';
import { processFigures } from './process-figures.ts';
import { metricOf } from './reconciles.ts';

/** A server and the probe that it was started with. */
export interface Probed {
  readonly server: ServerProcess;
  readonly probe: HeapProbe;
}

export interface Sampled {
  readonly controllers: readonly Probed[];
  readonly api: Probed;
  readonly database: pg.Client;
  /** The process id of the API server. */
  readonly apiServer: number;
}

/** A figure that is followed over the time of a soak. */
export interface Figure {
  readonly name: string;
  readonly unit: 'MiB' | '';
  /** How much it may grow; absent if Keyframe does not decide it. */
  readonly allowance?: Allowance;
  readonly samples: Sample[];
}

const mebibyte = 1024 * 1024;
const heapAllowance = { absolute: 4, share: 0.03 };
// What Node.js keeps of the memory that it has freed differs by this much; a leak shows in the heap first.
const residentAllowance = { absolute: 48, share: 0.1 };
const socketAllowance = { absolute: 8, share: 0.05 };
// A new leader reconciles everything, and a change of an environment has a hundred Secrets written.
const queueAllowance = { absolute: 10, share: 0, quantile: 0.25 };

/** Every figure with its allowance. The pools of connections grow and shrink within their limit. */
const figures = {
  controllerMemory: ['memory of the controllers', 'MiB', residentAllowance],
  controllerHeap: ['their heap after a collection', 'MiB', heapAllowance],
  apiMemory: ['memory of the API', 'MiB', residentAllowance],
  apiHeap: ['its heap after a collection', 'MiB', heapAllowance],
  controllerSockets: ['sockets of the controllers', '', socketAllowance],
  apiSockets: ['sockets of the API', '', socketAllowance],
  connections: ['database connections', '', { absolute: 10, share: 0 }],
  queue: ["the controllers' queue", '', queueAllowance],
  auditQueue: ['audit entries that wait', '', queueAllowance],
  apiServerMemory: ['memory of the API server', 'MiB', undefined],
  databaseSize: ['the database', 'MiB', undefined],
} as const;

type FigureName = keyof typeof figures;

/** Takes samples until it is stopped. */
export class Sampler {
  readonly #sampled: Sampled;
  readonly #samples = new Map<FigureName, Sample[]>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(sampled: Sampled) {
    this.#sampled = sampled;
  }

  /** Begins; every third sample has the garbage collected. It ends with `resources` at the latest. */
  static start(resources: AsyncDisposableStack, sampled: Sampled, everyMs: number): Sampler {
    const sampler = new Sampler(sampled);
    sampler.#running = sampler.#repeat(everyMs);
    sampler.#running.catch(() => undefined);
    resources.defer(() => sampler.stop().catch(() => undefined));
    return sampler;
  }

  /** Resolves after the last sample. Rejects if one could not be taken. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** What was sampled since a moment of `performance.now()`. */
  figuresSince(fromMs: number): readonly Figure[] {
    return Object.entries(figures).map(([key, [name, unit, allowance]]) => ({
      name,
      unit,
      ...(allowance === undefined ? {} : { allowance }),
      samples: (this.#samples.get(key as FigureName) ?? []).filter(({ atMs }) => atMs >= fromMs),
    }));
  }

  async #repeat(everyMs: number): Promise<void> {
    const { signal } = this.#stop;
    for (let taken = 0; !signal.aborted; taken += 1) {
      if (taken % 3 === 0) await this.#takeHeaps();
      await this.#take();
      await pause(everyMs, undefined, { signal }).catch(() => undefined);
    }
  }

  async #takeHeaps(): Promise<void> {
    const { controllers, api } = this.#sampled;
    const heaps = await Promise.all(controllers.map(({ probe }) => probe.heapBytes()));
    this.#add('controllerHeap', sum(heaps) / mebibyte);
    this.#add('apiHeap', (await api.probe.heapBytes()) / mebibyte);
  }

  async #take(): Promise<void> {
    const { controllers, api, database, apiServer } = this.#sampled;
    const texts = await Promise.all(controllers.map(({ server }) => metricsOf(server)));
    const ofAll = (name: string): number => sum(texts.map((text) => metricOf(name, text)));
    const apiText = await metricsOf(api.server);
    this.#add('controllerMemory', ofAll('process_resident_memory_bytes') / mebibyte);
    this.#add('apiMemory', metricOf('process_resident_memory_bytes', apiText) / mebibyte);
    this.#add('controllerSockets', sum(controllers.map(({ server }) => socketsOf(server))));
    this.#add('apiSockets', socketsOf(api.server));
    this.#add('queue', ofAll('keyframe_controller_queue_length'));
    this.#add('auditQueue', ofAll('keyframe_audit_queue_length') + metricOf('keyframe_audit_queue_length', apiText));
    this.#add('apiServerMemory', processFigures(apiServer).residentBytes / mebibyte);
    const { bytes, connections } = await databaseFigures(database);
    this.#add('connections', connections);
    this.#add('databaseSize', bytes / mebibyte);
  }

  #add(name: FigureName, value: number): void {
    const samples = this.#samples.get(name) ?? [];
    this.#samples.set(name, samples);
    samples.push({ atMs: performance.now(), value });
  }
}

/** Asks again if the connection ends, as that of a process does which has been suspended. */
function metricsOf(server: ServerProcess): Promise<string> {
  return waitFor(`the metrics of ${server.captured.name}`, () => server.metrics(), { timeoutMs: 30_000 });
}

function socketsOf(server: ServerProcess): number {
  return processFigures(server.captured.pid).sockets;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
