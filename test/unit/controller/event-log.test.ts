import { describe, expect, test } from '@jest/globals';
import type { ControllerEvent } from '../../../src/controller/frame/dependencies.ts';
import { EventLog } from '../../../src/controller/frame/event-log.ts';

const event = (version: number): ControllerEvent => ({ kind: 'environment', id: 'env', version: String(version) });

function publish(log: EventLog, from: number, count: number): void {
  for (let version = from; version < from + count; version += 1) log.publish(event(version));
}

describe('an event log', () => {
  test('has the events since each position, in order', () => {
    const log = new EventLog();
    publish(log, 1, 2);
    const { position } = log;
    expect(log.since(position)).toEqual([]);
    publish(log, 3, 2);
    expect(log.since(position)).toEqual([event(3), event(4)]);
    expect(log.since(0)).toEqual([1, 2, 3, 4].map(event));
  });

  test('gives each event to every listener when it is published', () => {
    const log = new EventLog();
    const heard: string[] = [];
    log.onEvent(({ version }) => heard.push(`first ${version}`));
    log.onEvent(({ version }) => heard.push(`second ${version}`));
    publish(log, 1, 2);
    expect(heard).toEqual(['first 1', 'second 1', 'first 2', 'second 2']);
  });

  test('says so if events since a position were dropped', () => {
    const log = new EventLog(4);
    publish(log, 1, 4);
    expect(log.since(0)).toHaveLength(4);
    publish(log, 5, 1);
    expect(log.since(0)).toBeUndefined();
    expect(log.since(log.position - 2)).toEqual([event(4), event(5)]);
  });

  test('says of every position before a gap that events may be missing, also if none came', () => {
    const log = new EventLog();
    const { position } = log;
    log.markGap();
    expect(log.since(position)).toBeUndefined();
    const after = log.position;
    publish(log, 1, 1);
    expect(log.since(after)).toEqual([event(1)]);
  });
});
