import { beforeEach, expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { RequestsUnderWay, type StartingRequest } from '../../../src/http/cluster/under-way.ts';

/** How many requests of controllers the server works for. */

const refusal = expect.objectContaining({ code: 'limit_exceeded', retryAfterSeconds: 1 }) as unknown;
let requests: RequestsUnderWay;
/** The requests whose work has begun and not ended. */
let working: { readonly name: string; readonly end: () => void }[];

beforeEach(() => {
  requests = new RequestsUnderWay();
  working = [];
});

const names = (): string[] => working.map(({ name }) => name);

/** A request, which ends with the error if it is refused. */
async function send(name: string, more: Partial<StartingRequest> = {}): Promise<unknown> {
  const request = { owner: 'a', process: name, network: '192.0.2.1', flight: 'reads', ...more } as const;
  const work = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    working.push({ name, end: resolve });
    await promise;
  };
  return await requests.run(request, work).catch((error: unknown) => error);
}

/** Ends the work for one request. */
async function end(name: string): Promise<void> {
  const [ended] = working.filter((one) => one.name === name);
  working = working.filter((one) => one !== ended);
  ended?.end();
  await turn();
}

test('the server works for two reads of a process, and for another one when one has ended', async () => {
  const process = 'one';
  const all = [send('first', { process }), send('second', { process })];
  expect(await send('third', { process })).toEqual(refusal);
  all.push(send('values', { process, flight: 'values' }));
  await end('first');
  all.push(send('fourth', { process }));
  expect(names()).toEqual(['second', 'values', 'fourth']);
  for (const name of names()) await end(name);
  await Promise.all(all);
});

test('the server works for as many requests of a cluster as three processes have, and the others wait', async () => {
  const all = Array.from({ length: 8 }, (_, index) => send(`${index}`));
  all.push(send('other', { owner: 'b' }));
  expect(names()).toEqual(['0', '1', '2', '3', '4', '5', 'other']);
  await end('2');
  expect(names()).toEqual(['0', '1', '3', '4', '5', 'other', '6']);
  while (working.length > 0) await end(names()[0] ?? '');
  expect(await Promise.all(all)).toEqual(all.map(() => undefined));
});

test('a controller is the next, however many requests a thief of its token sends from another network', async () => {
  const network = '198.51.100.1';
  const stolen = Array.from({ length: 100 }, (_, index) => send(`thief-${index}`, { network }));
  const own = send('controller');
  await end('thief-0');
  await end('thief-1');
  expect(names()).toContain('controller');
  while (working.length > 0) await end(names()[0] ?? '');
  expect(await own).toBeUndefined();
  expect((await Promise.all(stolen)).filter((error) => error !== undefined)).toHaveLength(100 - 6 - 8);
});

test('nothing is kept of what has ended', async () => {
  for (let index = 0; index < 20; index += 1) {
    const sent = send(`${index}`);
    await end(`${index}`);
    await sent;
  }
  expect(requests.counted).toBe(0);
});
