import { beforeEach, describe, expect, test } from '@jest/globals';
import { EventChecks } from '../../../src/controller/frame/event-checks.ts';

let active: boolean;
let added: string[];
let deferred: (() => boolean)[];
let checks: EventChecks;

beforeEach(() => {
  active = false;
  added = [];
  deferred = [];
  checks = new EventChecks({
    queue: { add: (key) => void added.push(key), isActive: () => active },
    deferredOf: (key) => (key === 'unknown' ? undefined : deferred),
  });
});

test('an event queues its resource at once if it is news', () => {
  checks.notice('app', () => false);
  expect(added).toEqual([]);
  checks.notice('app', () => true);
  expect(added).toEqual(['app']);
});

describe('an event that comes during a reconcile', () => {
  test('is judged after it, and queues the resource if it is news then', () => {
    let isEcho = false;
    active = true;
    checks.notice('app', () => !isEcho);
    expect(added).toEqual([]);
    checks.afterReconcile('app');
    expect(added).toEqual(['app']);
    // The reconcile itself wrote what the event shows.
    checks.notice('app', () => !isEcho);
    isEcho = true;
    checks.afterReconcile('app');
    expect(added).toEqual(['app']);
  });

  test('is judged once, with all others of that reconcile, which queue the resource once', () => {
    const judged: number[] = [];
    active = true;
    for (const number of [1, 2, 3]) checks.notice('app', () => judged.push(number) > 0);
    checks.afterReconcile('app');
    checks.afterReconcile('app');
    expect(judged).toEqual([1, 2, 3]);
    expect(added).toEqual(['app']);
  });

  test('of a resource that is not known queues nothing', () => {
    active = true;
    checks.notice('unknown', () => true);
    checks.afterReconcile('unknown');
    expect(added).toEqual([]);
  });
});
