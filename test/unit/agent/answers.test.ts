import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { Answers } from '../../../src/agent/answers.ts';

/** Answers that come at the same time. */

const kibibyte = 1024;
const limits = { timeoutMs: 60_000, maxAnswerBytes: 400 * kibibyte };
let answers: Answers;

beforeEach(() => {
  // Text and object of 500 KiB.
  answers = new Answers(1_000 * kibibyte);
});

interface Arriving {
  readonly response: PassThrough;
  readonly read: Promise<unknown>;
  /** Whether it was read. */
  isRead: boolean;
}

/** An answer of so many bytes, of which nothing has come yet. */
function arriving(bytes: number, { timeoutMs = limits.timeoutMs } = {}): Arriving {
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes) };
  const response = Object.assign(new PassThrough(), { headers });
  const read = answers.read(response as unknown as IncomingMessage, { ...limits, timeoutMs });
  const answer: Arriving = { response, read, isRead: false };
  void read.then(
    () => (answer.isRead = true),
    () => undefined,
  );
  return answer;
}

async function arrive({ response }: Arriving): Promise<void> {
  response.end('{}');
  await turn();
  await turn();
}

test('a large answer waits until those before it have left room', async () => {
  const first = arriving(300 * kibibyte);
  const second = arriving(300 * kibibyte);
  await arrive(second);
  expect(second.isRead).toBe(false);
  await arrive(first);
  expect([first.isRead, second.isRead]).toEqual([true, true]);
});

test('answers that have room together are read together', async () => {
  arriving(300 * kibibyte);
  const second = arriving(200 * kibibyte);
  await arrive(second);
  expect(second.isRead).toBe(true);
});

test('a small answer waits for no large one', async () => {
  arriving(400 * kibibyte);
  const small = arriving(64 * kibibyte);
  await arrive(small);
  expect(small.isRead).toBe(true);
});

test('an answer whose memory is not free in time is given up', async () => {
  arriving(400 * kibibyte);
  const second = arriving(400 * kibibyte, { timeoutMs: 10 });
  await expect(second.read).rejects.toMatchObject({ code: 'overloaded' });
  expect(second.response.destroyed).toBe(true);
});

test('an answer that is cut off leaves its room', async () => {
  const first = arriving(400 * kibibyte);
  const second = arriving(400 * kibibyte);
  first.response.destroy(new Error('cut off'));
  await expect(first.read).rejects.toThrow('cut off');
  await arrive(second);
  expect(second.isRead).toBe(true);
});
