import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { type Work, WorkLimit } from '../../../src/http/admission/work-limit.ts';

const kibibyte = 1024;
const overloaded = expect.objectContaining({ code: 'overloaded' });
// No client of these tests becomes slow by itself.
const patient = { patienceMs: 600_000, waitMs: 20 };

/** A response whose connection can be cut. */
interface Response {
  readonly response: ServerResponse;
  isCut: boolean;
}

function newResponse(): Response {
  const made: { response?: ServerResponse; isCut: boolean } = { isCut: false };
  const socket = { destroy: () => void (made.isCut = true) };
  made.response = Object.assign(new EventEmitter(), { req: { socket } }) as unknown as ServerResponse;
  return made as Response;
}

/** A request in progress. `finish` ends its handler and its response. */
interface Entered extends Response {
  readonly work: Work;
  readonly finish: () => void;
}

function enter(limit: WorkLimit, caller?: string): Entered {
  const made = newResponse();
  const work = limit.enter(made.response);
  if (caller !== undefined) work.isOf(caller);
  const finish = (): void => {
    work.end();
    made.response.emit('close');
  };
  return Object.assign(made, { work, finish });
}

test('a slot is free again when the handler and the response have ended', () => {
  const limit = new WorkLimit({ requests: 2, ...patient });
  const first = enter(limit);
  enter(limit);
  expect(() => enter(limit)).toThrow(overloaded);
  first.response.emit('close');
  // Its handler goes on without its client.
  expect(() => enter(limit)).toThrow('too many requests are in progress');
  first.work.end();
  enter(limit);
  expect(() => enter(limit)).toThrow('too many requests are in progress');
});

test('a slot that was left is free once, whatever comes after', () => {
  const limit = new WorkLimit({ requests: 2, ...patient });
  const first = enter(limit);
  enter(limit);
  first.work.leave();
  first.finish();
  enter(limit);
  expect(() => enter(limit)).toThrow('too many requests are in progress');
});

test('one caller has a part of the slots, and gets them back', () => {
  const limit = new WorkLimit({ requests: 10, requestsPerParty: 2, ...patient });
  const first = enter(limit, 'ada');
  enter(limit, 'ada');
  expect(() => enter(limit, 'ada')).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  enter(limit, 'eve');
  first.finish();
  enter(limit, 'ada');
  expect(() => enter(limit, 'ada')).toThrow('of your requests are in progress');
});

test('a network without a token has a part of the slots, and all of them together have half', () => {
  const limit = new WorkLimit({ requests: 10, requestsPerParty: 3, ...patient });
  const enterFrom = (address: string): void => enter(limit).work.isFrom(address);
  for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::ffff:1']) enterFrom(address);
  expect(() => enterFrom('2001:db8::3')).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  enterFrom('192.0.2.1');
  enterFrom('192.0.2.2');
  expect(() => enterFrom('192.0.2.3')).toThrow(overloaded);
  enter(limit, 'ada');
});

test('large bodies and responses wait in so much memory, and those of one caller in a part of it', () => {
  const limit = new WorkLimit({ transferBytes: 1000 * kibibyte, ...patient });
  const first = enter(limit, 'ada');
  first.work.hold(400 * kibibyte);
  expect(() => enter(limit, 'ada').work.hold(200 * kibibyte)).toThrow(overloaded);
  const second = enter(limit, 'eve');
  second.work.hold(500 * kibibyte);
  expect(() => enter(limit, 'bob').work.hold(200 * kibibyte)).toThrow('too much memory');
  // A small request is never refused because of large ones.
  const small = enter(limit, 'bob');
  small.work.hold(60 * kibibyte);
  enter(limit, 'kim').work.hold(60 * kibibyte);
  expect(() => small.work.hold(60 * kibibyte)).toThrow('too much memory');
  second.finish();
  enter(limit, 'bob').work.hold(200 * kibibyte);
  first.finish();
  enter(limit, 'ada').work.hold(400 * kibibyte);
});

test('a request that alone is larger than all of that passes if nothing else of its caller waits', () => {
  const limit = new WorkLimit({ transferBytes: 100 * kibibyte, ...patient });
  const { work, finish } = enter(limit, 'ada');
  // In pieces, as bodies come.
  for (let piece = 0; piece < 4; piece += 1) work.hold(50 * kibibyte);
  expect(() => enter(limit, 'eve').work.hold(70 * kibibyte)).toThrow(overloaded);
  finish();
  enter(limit, 'eve').work.hold(70 * kibibyte);
});

test('memory that was held before the caller was known counts for that caller until it is given back', () => {
  const limit = new WorkLimit({ transferBytes: 1000 * kibibyte, ...patient });
  const first = enter(limit);
  first.work.hold(300 * kibibyte);
  first.work.isOf('ada');
  expect(() => enter(limit, 'ada').work.hold(200 * kibibyte)).toThrow(overloaded);
  first.finish();
  enter(limit, 'ada').work.hold(300 * kibibyte);
  expect(() => enter(limit, 'ada').work.hold(200 * kibibyte)).toThrow(overloaded);
});

test('memory that is held after the client has gone is given back', () => {
  const limit = new WorkLimit({ transferBytes: 1000 * kibibyte, ...patient });
  const { work, response } = enter(limit, 'ada');
  response.emit('close');
  work.hold(900 * kibibyte);
  enter(limit, 'eve').work.hold(60 * kibibyte);
  expect(() => enter(limit, 'bob').work.hold(200 * kibibyte)).toThrow(overloaded);
  work.end();
  enter(limit, 'bob').work.hold(200 * kibibyte);
});

test('a reservation waits until the memory is free', async () => {
  const limit = new WorkLimit({ transferBytes: 1000 * kibibyte, ...patient, waitMs: 600_000 });
  const first = enter(limit, 'ada');
  await first.work.reserve(900 * kibibyte);
  let isReserved = false;
  const second = enter(limit, 'eve');
  const reserved = second.work.reserve(200 * kibibyte).then(() => (isReserved = true));
  await pause(1);
  expect(isReserved).toBe(false);
  first.work.release(800 * kibibyte);
  await reserved;
});

test('a computation counts until its handler ends, even if its client has gone', async () => {
  const limit = new WorkLimit({ readBytes: 100, ...patient });
  const first = enter(limit, 'ada');
  await first.work.compute('read', 80);
  first.response.emit('close');
  await expect(enter(limit, 'eve').work.compute('read', 80)).rejects.toThrow(overloaded);
  // Writes have their own memory.
  await enter(limit, 'eve').work.compute('write', 80);
  first.work.end();
  await enter(limit, 'eve').work.compute('read', 80);
});

test('the request whose client is awaited for longest makes room for another one', async () => {
  const limit = new WorkLimit({ requests: 3, transferBytes: 1000 * kibibyte, patienceMs: 5, waitMs: 20 });
  const [first, second, busy] = [enter(limit, 'ada'), enter(limit, 'eve'), enter(limit, 'bob')];
  first.work.hold(500 * kibibyte);
  second.work.hold(300 * kibibyte);
  second.work.awaitClient(0);
  first.work.awaitClient(0);
  await pause(10);
  // This client has sent or read something.
  second.work.awaitClient(64 * kibibyte);
  busy.work.hold(400 * kibibyte);
  expect([first.isCut, second.isCut, busy.isCut]).toEqual([true, false, false]);
  second.work.continue();
  enter(limit, 'ada');
  expect(() => enter(limit, 'ada')).toThrow(overloaded);
});

test('a response that its reader does not take makes room, too', async () => {
  const limit = new WorkLimit({ requests: 1, patienceMs: 5, waitMs: 20 });
  const first = enter(limit, 'ada');
  first.work.end();
  await pause(10);
  enter(limit, 'eve');
  expect(first.isCut).toBe(true);
});

test('each byte that a request takes is reported once, a refused one never', async () => {
  const limit = new WorkLimit({ transferBytes: 1000 * kibibyte, ...patient });
  const [taken, ofAnother]: number[][] = [[], []];
  enter(limit, 'eve');
  const { work } = enter(limit);
  work.isOf('ada', (bytes) => taken?.push(bytes));
  work.hold(10);
  await work.reserve(100);
  // Of these, 100 were reported when they were reserved.
  work.hold(60);
  work.hold(70);
  expect(taken).toEqual([10, 100, 30]);
  const second = enter(limit);
  second.work.isOf('ada', (bytes) => ofAnother?.push(bytes));
  enter(limit).work.hold(900 * kibibyte);
  expect(() => second.work.hold(200 * kibibyte)).toThrow('too much memory');
  expect(ofAnother).toEqual([]);
});
