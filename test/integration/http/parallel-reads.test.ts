import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { CapturedProcess } from '../../support/faults/captured-process.ts';
import { LargeSite } from '../../support/api/large-site.ts';
import type { TestToken } from '../../support/api/services.ts';

// CPU time of the server and not time, so that other processes on the same cores do not count.
const maxWaitMs = 500;
const maxTurnMs = 100;
let site: LargeSite;
let token: TestToken;

beforeAll(async () => {
  site = await LargeSite.start();
  token = await site.world.serviceToken({ permission: 'read' });
  const owner = site.client(site.world.owner.token);
  // As much as an environment holds.
  for (const half of [0, 1]) {
    const value = 'x'.repeat(1_600);
    const set = Object.fromEntries(Array.from({ length: 4_950 }, (_, index) => [`KEY_${half}_${index}`, value]));
    await owner.expectStatus(200, 'PATCH', site.path('secrets'), { set });
  }
});

afterAll(() => site.close());

interface Load {
  /** How much the server worked while the slowest `GET /me` of another caller waited. */
  readonly longestMs: number;
  /** How many of those there were. */
  readonly asked: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** Reads the whole environment so many times at once with one token, while another caller asks who they are. */
async function read(count: number, query: string): Promise<Load> {
  const url = `${site.url}/api/v1${site.path('secrets')}${query}`;
  const script = join(checkoutDirectory, 'test/support/api/parallel-reads.ts');
  const args = [script, url, String(count), token.token.reveal()];
  const readers = new CapturedProcess({ name: 'readers', program: process.execPath, args });
  const viewer = site.client(site.world.viewer.token);
  let longestMs = 0;
  let asked = 0;
  while (readers.isRunning) {
    const usedMs = await site.meter.usedMs();
    await viewer.expectStatus(200, 'GET', '/me');
    longestMs = Math.max(longestMs, (await site.meter.usedMs()) - usedMs);
    asked += 1;
    await pause(20);
  }
  const output = readers.output.toString();
  return { longestMs, asked, statuses: JSON.parse(output) as Load['statuses'] };
}

/** The better of two loads, each with the longest turn of the server meanwhile. */
async function bestOfTwo(query: string): Promise<Load & { readonly turnMs: number }> {
  const measured = async (): Promise<Load & { readonly turnMs: number }> => {
    let load: Load | undefined;
    const turnMs = await site.meter.during(async () => (load = await read(200, query)));
    if (load === undefined) throw new Error('nothing was read');
    return { ...load, turnMs };
  };
  const first = await measured();
  return first.longestMs <= maxWaitMs && first.turnMs <= maxTurnMs ? first : measured();
}

test.each([
  ['kept in memory', ''],
  ['fetched each time', '?prefix=KEY'],
])(
  'two hundred large reads with one token, %s, keep others waiting for no more than half a second',
  async (_case, query) => {
    const { statuses, asked, longestMs, turnMs } = await bestOfTwo(query);
    // Those whose turn does not come in time are asked to come again, and nothing else goes wrong.
    const { 200: served = 0, 503: deferred = 0, ...others } = statuses;
    expect({ answered: served + deferred, others }).toEqual({ answered: 200, others: {} });
    expect(served).toBeGreaterThan(2);
    expect(asked).toBeGreaterThan(10);
    expect(longestMs).toBeLessThanOrEqual(maxWaitMs);
    expect(turnMs).toBeLessThanOrEqual(maxTurnMs);
  },
  300_000,
);
