import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from '@jest/globals';
import { WorkLimit } from '../../../src/http/work-limit.ts';

function response(): ServerResponse {
  return new EventEmitter() as ServerResponse;
}

test('a place is free again when its answer is out or its connection gone', () => {
  const limit = new WorkLimit(2);
  const [first, second] = [response(), response()];
  limit.enter(first);
  limit.enter(second);
  expect(() => limit.enter(response())).toThrow(expect.objectContaining({ code: 'overloaded' }));
  first.emit('close');
  limit.enter(response());
  expect(() => limit.enter(response())).toThrow('too many requests are under way');
});
