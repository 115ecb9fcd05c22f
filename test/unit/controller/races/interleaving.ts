import { stripVTControlCharacters } from 'node:util';
import { expect } from '@jest/globals';
import { adaptersOfRun } from '../../../support/api/adapters.ts';
import { isFull, seed } from '../../../support/fixtures/test-size.ts';
import { Harness } from '../controller-harness.ts';
import { settled } from '../fake-clock.ts';

/** A reconcile that something is to happen during. */
export interface Race<H extends Harness> {
  /** A controller at rest. */
  readonly prepare: () => Promise<H>;
  /** Asks for the reconcile. */
  readonly begin: (harness: H) => void | Promise<void>;
  /** What happens at one step of the reconcile; what it throws is the failure of that step's call. */
  readonly event: (harness: H, step: string) => void | Promise<void>;
  /** What happens once all is at rest after that. */
  readonly later?: (harness: H) => void | Promise<void>;
  /** Expects the end state, of a controller that is at rest. */
  readonly check: (harness: H) => void;
  /** How much time passes until all is at rest, in milliseconds; default: 40 seconds. */
  readonly restMs?: number;
  /** How many steps the reconcile has at least; default: the six of one that reads and writes. */
  readonly minSteps?: number;
  /** How many comparisons the race itself asks for; default: none. */
  readonly comparisons?: number | 'any';
}

// A refusal is reported once more when it stalls, after 30 s.
const restMs = 40_000;
// Far below the interval of the harness, so that nothing is found by a resync.
const maxElapsedMs = 500_000;
// A reconcile that keeps itself busy would end no test.
const maxSteps = 400;

/**
 * Runs a race once for each step of its reconcile, with the event at that step: before a call takes anything, and after it
 * has its answer. There are two ways: the reconcile goes on at once, or after all that follows from the event. By default each
 * step is tried in one of them, on each day in the other one. In the full size it is tried in both, with both adapters. Returns
 * the steps after which the check fails, with its message; a race that is lost nowhere returns none.
 */
export async function lostAt<H extends Harness>(race: Race<H>): Promise<string[]> {
  const lost: string[] = [];
  for (const adapter of adaptersOfRun) {
    const steps = await Harness.reaching(adapter, () => lostStepsOf(race));
    lost.push(...steps.map((step) => `${adapter}, ${step}`));
  }
  return lost;
}

async function lostStepsOf<H extends Harness>(race: Race<H>): Promise<string[]> {
  const steps = await stepsOf(race);
  // The event must have reconciles to fall into.
  expect(steps.length).toBeGreaterThanOrEqual(race.minSteps ?? 6);
  const lost: string[] = [];
  for (const [index, step] of steps.entries()) {
    for (const isHeld of isFull ? [false, true] : [(index + seed) % 2 === 1]) {
      const message = await played(race, index, isHeld);
      const way = isHeld ? 'held' : 'at once';
      if (message !== undefined) lost.push(`${index + 1} of ${steps.length}, ${step} (${way}): ${message}`);
    }
  }
  return lost;
}

async function stepsOf<H extends Harness>({ prepare, begin }: Race<H>): Promise<string[]> {
  const harness = await prepare();
  const steps: string[] = [];
  onSteps(harness, (step) => void steps.push(step));
  await begin(harness);
  await settled();
  onSteps(harness, undefined);
  // What only the event would end is not waited for.
  void harness.controller.stop();
  return steps;
}

async function played<H extends Harness>(race: Race<H>, at: number, isHeld: boolean): Promise<string | undefined> {
  const harness = await race.prepare();
  const began = { at: harness.clock.now(), comparisons: harness.services.comparisons };
  let count = 0;
  let happening: Promise<void> | undefined;
  const happens = async (step: string): Promise<void> => {
    await race.event(harness, step);
    if (isHeld) await settled();
  };
  onSteps(harness, async (step) => {
    count += 1;
    if (count > maxSteps) throw new Error('the controller does not come to rest');
    if (count === at + 1) await (happening = happens(step));
  });
  try {
    await race.begin(harness);
    await settled();
    // An event may let time pass itself, and one that throws has failed a call.
    await happening?.catch(() => undefined);
    await rest(harness, race.restMs);
    await race.later?.(harness);
    await rest(harness, race.restMs);
    expect(count).toBeGreaterThan(at);
    expect(count).toBeLessThanOrEqual(maxSteps);
    const { comparisons = 0 } = race;
    if (comparisons !== 'any') expect(harness.services.comparisons - began.comparisons).toBe(comparisons);
    race.check(harness);
    await expectRest(harness);
    expect(harness.clock.now() - began.at).toBeLessThan(maxElapsedMs);
    return undefined;
  } catch (error) {
    return plain(error);
  } finally {
    onSteps(harness, undefined);
    await harness.controller.stop();
  }
}

/** Lets time pass until all is at rest that a race brought about; not so much that a resync comes. */
export async function rest(harness: Harness, forMs = restMs): Promise<void> {
  await settled();
  await harness.clock.advance(forMs);
}

/** Expects that the controller makes no further call. */
async function expectRest(harness: Harness): Promise<void> {
  harness.cluster.takeCalls();
  await rest(harness);
  expect(harness.cluster.takeCalls()).toEqual([]);
}

function onSteps(harness: Harness, listener: ((step: string) => void | Promise<void>) | undefined): void {
  harness.cluster.onStep = listener;
  harness.services.onStep = listener;
}

/** The message of a failed expectation in one line, without colours. */
function plain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join(' | ')
    .slice(0, 400);
}
