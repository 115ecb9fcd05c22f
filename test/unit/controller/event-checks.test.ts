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

test('an event enqueues its resource at once if its check says so', () => {
  checks.notice('app', () => false);
  expect(added).toEqual([]);
  checks.notice('app', () => true);
  expect(added).toEqual(['app']);
});

describe('an event that comes during a reconcile', () => {
  test('is checked after it, and enqueues the resource if the check says so then', () => {
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

  test('is checked once, with all others of that reconcile, which enqueue the resource once', () => {
    const judged: number[] = [];
    active = true;
    for (const number of [1, 2, 3]) checks.notice('app', () => judged.push(number) > 0);
    checks.afterReconcile('app');
    checks.afterReconcile('app');
    expect(judged).toEqual([1, 2, 3]);
    expect(added).toEqual(['app']);
  });

  test('of an unknown resource enqueues nothing', () => {
    active = true;
    checks.notice('unknown', () => true);
    checks.afterReconcile('unknown');
    expect(added).toEqual([]);
  });
});
