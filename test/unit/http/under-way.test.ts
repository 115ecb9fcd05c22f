import { expect, test } from '@jest/globals';
import { RequestsUnderWay } from '../../../src/http/cluster/under-way.ts';

/** How many requests of a controller are under way. */

const refusal = expect.objectContaining({ code: 'limit_exceeded', retryAfterSeconds: 1 }) as unknown;

function entered(requests: RequestsUnderWay, cluster: string, process: string, flight: 'reads' | 'values'): unknown {
  try {
    return requests.enter(cluster, process, flight);
  } catch (error) {
    return error;
  }
}

test('a process has two reads under way, and another one when one has ended', () => {
  const requests = new RequestsUnderWay();
  const leave = requests.enter('a', 'one', 'reads');
  requests.enter('a', 'one', 'reads');
  expect(entered(requests, 'a', 'one', 'reads')).toEqual(refusal);
  expect(entered(requests, 'a', 'one', 'values')).toBeInstanceOf(Function);
  expect(entered(requests, 'a', 'two', 'reads')).toBeInstanceOf(Function);
  leave();
  expect(entered(requests, 'a', 'one', 'reads')).toBeInstanceOf(Function);
});

test('a cluster has as many as three processes, however many it pretends to have', () => {
  const requests = new RequestsUnderWay();
  const all = Array.from({ length: 10 }, (_, index) => entered(requests, 'a', `${index}`, 'reads'));
  expect(all.filter((one) => typeof one === 'function')).toHaveLength(6);
  expect(entered(requests, 'b', 'one', 'reads')).toBeInstanceOf(Function);
});

test('nothing is kept of what has ended', () => {
  const requests = new RequestsUnderWay();
  for (let index = 0; index < 100; index += 1) requests.enter('a', `${index}`, 'reads')();
  expect(requests.counted).toBe(0);
});
