import {
  floorContender,
  keyframeContender,
  measureChanges,
  startProcesses,
  startSecretPlace,
} from './secret-contender.ts';
import { percentile, summaryHeader, summaryLine } from './statistics.ts';

const rounds = 10;
const changesPerRound = 20;
const warmUps = 10;
// A single change: its status patch is done before the next one begins.
const pauseMs = (): number => 25;

/**
 * How long a committed change takes to the watch event of its native Secret, for Keyframe and for the floor (floor.ts) in
 * turn: ten rounds of twenty single changes each. Both clocks start at PostgreSQL's own commit timestamp. Keyframe runs as
 * users run it: API and controller as processes of their own, durable database, real API server, audited reads.
 */
export async function changeToSecret(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const place = await startSecretPlace(resources);
  const { client } = await startProcesses(resources, place, { role: 'controller' });
  const keyframe = await keyframeContender(resources, place, client);
  const floor = await floorContender(resources, place);
  for (const contender of [keyframe, floor]) await measureChanges(contender, warmUps, pauseMs);
  const samples = { keyframe: [] as number[], floor: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    samples.floor.push(...(await measureChanges(floor, changesPerRound, pauseMs)));
    samples.keyframe.push(...(await measureChanges(keyframe, changesPerRound, pauseMs)));
  }
  report(samples.keyframe, samples.floor);
}

function report(keyframe: readonly number[], floor: readonly number[]): void {
  const ratio = (share: number): string => (percentile(keyframe, share) / percentile(floor, share)).toFixed(2);
  console.log(`
From the commit to the watch event of the native Secret (${rounds} interleaved rounds of ${changesPerRound} single changes)
${summaryHeader}
${summaryLine('floor', floor)}
${summaryLine('keyframe', keyframe)}
ratio keyframe / floor: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`);
}
