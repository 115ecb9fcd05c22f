import { setTimeout as pause } from 'node:timers/promises';
import type { ServerProcess } from '../support/api/server-process.ts';

/** How many reconciles a controller has done, of one kind or of all. */
export async function reconcilesOf(server: ServerProcess, kind = '[^"]*'): Promise<number> {
  const pattern = new RegExp(`^keyframe_reconcile_duration_seconds_count\\{.*kind="${kind}".*\\} (\\d+)$`, 'gm');
  return sumOfSeries(pattern, await server.metrics());
}

/** Resolves when the controller has reconciled nothing for so many milliseconds. */
export async function untilIdle(server: ServerProcess, idleMs: number): Promise<void> {
  let before = -1;
  for (let count = await reconcilesOf(server); count !== before; count = await reconcilesOf(server)) {
    before = count;
    await pause(idleMs);
  }
}

/** The sum of all series of a metric whose lines match; the pattern has the global flag and one group, the value. */
export function sumOfSeries(pattern: RegExp, text: string): number {
  return Array.from(text.matchAll(pattern), ([, value]) => Number(value)).reduce((sum, value) => sum + value, 0);
}

/** Whether a controller works, or stands by. */
export async function isLeading(server: ServerProcess): Promise<boolean> {
  return metricOf('keyframe_controller_leader', await server.metrics()) === 1;
}

/** The value of a metric without labels. Throws if it is missing. */
export function metricOf(name: string, text: string): number {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`there is no metric ${name}`);
  return Number(value);
}
