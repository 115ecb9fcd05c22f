import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { WorkLimit } from '../../../src/http/admission/work-limit.ts';

function response(): ServerResponse {
  return new EventEmitter() as ServerResponse;
}

const kibibyte = 1024;

test('a place is free again when its answer is out or its connection gone', () => {
  const limit = new WorkLimit({ requests: 2 });
  const [first, second] = [response(), response()];
  limit.enter(first);
  limit.enter(second);
  expect(() => limit.enter(response())).toThrow(expect.objectContaining({ code: 'overloaded' }));
  first.emit('close');
  limit.enter(response());
  expect(() => limit.enter(response())).toThrow('too many requests are in progress');
});

test('a place that was left is free once, whatever comes after', () => {
  const limit = new WorkLimit({ requests: 2 });
  const first = response();
  const work = limit.enter(first);
  limit.enter(response());
  work.leave();
  first.emit('close');
  limit.enter(response());
  expect(() => limit.enter(response())).toThrow('too many requests are in progress');
});

test('one caller has a part of the places, and gets them back', () => {
  const limit = new WorkLimit({ requests: 10, requestsPerCaller: 2 });
  const first = response();
  limit.enter(first).isOf('ada');
  limit.enter(response()).isOf('ada');
  expect(() => limit.enter(response()).isOf('ada')).toThrow(expect.objectContaining({ code: 'limit_exceeded' }));
  limit.enter(response()).isOf('eve');
  first.emit('close');
  limit.enter(response()).isOf('ada');
  expect(() => limit.enter(response()).isOf('ada')).toThrow('of your requests are in progress');
});

test('large bodies and answers wait in so much memory, and of one caller in half of it', () => {
  const limit = new WorkLimit({ bytes: 1000 * kibibyte });
  const [first, second] = [response(), response()];
  const enter = (caller: string, at = response()): ReturnType<WorkLimit['enter']> => {
    const work = limit.enter(at);
    work.isOf(caller);
    return work;
  };
  enter('ada', first).hold(400 * kibibyte);
  expect(() => enter('ada').hold(200 * kibibyte)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  enter('eve', second).hold(500 * kibibyte);
  expect(() => enter('bob').hold(200 * kibibyte)).toThrow('too much memory');
  // What is small is never refused for what is large.
  const small = enter('bob');
  small.hold(60 * kibibyte);
  expect(() => small.hold(60 * kibibyte)).toThrow('too much memory');
  second.emit('close');
  enter('bob').hold(200 * kibibyte);
  first.emit('close');
  enter('ada').hold(400 * kibibyte);
});

test('what alone is larger than all of that passes when nothing else of its caller waits', () => {
  const limit = new WorkLimit({ bytes: 100 * kibibyte });
  const work = limit.enter(response());
  work.isOf('ada');
  // In pieces, as bodies come.
  const holdAll = (): void => {
    for (let piece = 0; piece < 4; piece += 1) work.hold(50 * kibibyte);
  };
  expect(holdAll).not.toThrow();
});

test('each byte that a request takes is reported once, a refused one never', () => {
  const limit = new WorkLimit({ bytes: 1000 * kibibyte });
  const [taken, ofAnother]: number[][] = [[], []];
  limit.enter(response()).isOf('eve');
  const work = limit.enter(response());
  work.isOf('ada', (bytes) => taken?.push(bytes));
  work.hold(10);
  work.reserve(100);
  // Of these, 100 were reported when they were reserved.
  work.hold(60);
  work.hold(70);
  expect(taken).toEqual([10, 100, 30]);
  const second = limit.enter(response());
  second.isOf('ada', (bytes) => ofAnother?.push(bytes));
  limit.enter(response()).hold(900 * kibibyte);
  expect(() => second.hold(200 * kibibyte)).toThrow('too much memory');
  expect(ofAnother).toEqual([]);
});
