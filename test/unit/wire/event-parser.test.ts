import { expect, test } from '@jest/globals';
import { EventParser, type SentEvent } from '../../../src/wire/event-parser.ts';

/** What both clients make of a stream of events, in whatever parts it arrives. */

const text = [
  'retry: 2000\nevent: ready\nid: r1\ndata: {"revision":1}\n\n',
  ': comment\n\n',
  'event: change\nid: r2\ndata: {"revision":2,"keys":["A: 1","B"]}\n\n',
  'event: reset\ndata: {"revision":0}\n\n',
].join('');

const events: readonly SentEvent[] = [
  { event: 'ready', id: 'r1', data: { revision: 1 } },
  { event: 'change', id: 'r2', data: { revision: 2, keys: ['A: 1', 'B'] } },
  { event: 'reset', id: undefined, data: { revision: 0 } },
];

function readIn(parts: readonly string[]): SentEvent[] {
  const parser = new EventParser();
  return parts.flatMap((part) => parser.read(part));
}

test.each([
  ['\\n', text],
  ['\\r\\n', text.replaceAll('\n', '\r\n')],
])('a stream with lines that end in %s is read alike wherever it is cut', (_case, stream) => {
  expect(readIn([stream])).toEqual(events);
  expect(readIn(Array.from(stream))).toEqual(events);
  for (let at = 1; at < stream.length; at += 1) {
    expect({ at, read: readIn([stream.slice(0, at), stream.slice(at)]) }).toEqual({ at, read: events });
  }
});

test('an event is returned when it is complete, not before', () => {
  const parser = new EventParser();
  expect(parser.read('event: change\ndata: {}\n')).toEqual([]);
  expect(parser.read('\n')).toEqual([{ event: 'change', id: undefined, data: {} }]);
});

test('data that is not JSON is an error, and so is an endless event', () => {
  expect(() => readIn(['event: change\ndata: {\n\n'])).toThrow(SyntaxError);
  expect(() => readIn(Array<string>(18).fill('x'.repeat(2 ** 20)))).toThrow('an event is too long');
});
