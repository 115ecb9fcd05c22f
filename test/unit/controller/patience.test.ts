import { expect, test } from '@jest/globals';
import type { ReadyClaim } from '../../../src/controller/frame/conditions.ts';
import { Patience, timedClaim } from '../../../src/controller/frame/patience.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';

const waiting: ReadyClaim = { progress: 'waiting', reason: 'NotFound', message: 'why' };
const retried: ReadyClaim = { progress: 'reconciling', reason: 'StoreUnavailable', message: 'why' };
const working: ReadyClaim = { progress: 'reconciling', reason: 'Generating', message: 'how many', advance: '1' };
const done: ReadyClaim = { progress: 'done', reason: 'Synced', message: 'all' };
const minuteMs = 60_000;

function resource(generation = 1, stalledFor?: string): Resource {
  const at = { message: '', lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 };
  const conditions = [
    { type: 'Ready', status: 'False' as const, reason: stalledFor ?? 'X', ...at },
    { type: 'Stalled', status: 'True' as const, reason: stalledFor ?? 'X', ...at },
  ];
  return {
    metadata: { name: 'one', uid: 'u', resourceVersion: '1', generation },
    spec: {},
    ...(stalledFor === undefined ? {} : { status: { conditions } }),
  };
}

test.each<[ReadyClaim, number]>([
  [waiting, 30_000],
  [retried, 5 * minuteMs],
])('a claim in progress is Stalled after its time', (claim, limitMs) => {
  expect(timedClaim(claim, limitMs - 1)).toEqual({ claim, leftMs: 1 });
  expect(timedClaim(claim, limitMs)).toEqual({ claim: { ...claim, progress: 'stalled' } });
});

test('a claim at rest never changes', () => {
  for (const progress of ['done', 'stalled', 'suspended'] as const) {
    expect(timedClaim({ ...done, progress }, 1e12)).toEqual({ claim: { ...done, progress } });
  }
});

test('the time counts over several reasons, and from the start after a success', () => {
  const patience = new Patience();
  patience.observe('k', resource(), waiting, 0);
  patience.observe('k', resource(), { ...waiting, reason: 'AccessDenied' }, 20_000);
  expect(patience.timed('k', waiting, 31_000).claim.progress).toBe('stalled');
  // An outage in between is in progress, and changes nothing about the time.
  patience.observe('k', resource(), retried, 31_000);
  expect(patience.timed('k', retried, 31_000).claim.progress).toBe('reconciling');
  patience.observe('k', resource(), waiting, 32_000);
  expect(patience.timed('k', waiting, 32_000).claim.progress).toBe('stalled');
  patience.observe('k', resource(), done, 40_000);
  patience.observe('k', resource(), waiting, 50_000);
  expect(patience.timed('k', waiting, 50_000)).toEqual({ claim: waiting, leftMs: 30_000 });
});

test('a new spec has the whole time', () => {
  const patience = new Patience();
  patience.observe('k', resource(1), waiting, 0);
  patience.observe('k', resource(2), waiting, minuteMs);
  expect(patience.timed('k', waiting, minuteMs)).toEqual({ claim: waiting, leftMs: 30_000 });
});

test('work that advances is in progress, and is Stalled if it no longer does', () => {
  const patience = new Patience();
  for (let minute = 0; minute < 20; minute += 4) {
    const claim = { ...working, advance: String(minute) };
    patience.observe('k', resource(), claim, minute * minuteMs);
    expect(patience.timed('k', claim, minute * minuteMs).claim.progress).toBe('reconciling');
  }
  patience.observe('k', resource(), { ...working, advance: '16' }, 20 * minuteMs);
  expect(patience.timed('k', working, 21 * minuteMs).claim.progress).toBe('stalled');
});

test('after a change of the leader, what was stalled stays so for the same reason', () => {
  const patience = new Patience();
  patience.observe('same', resource(1, 'NotFound'), waiting, 0);
  expect(patience.timed('same', waiting, 0).claim.progress).toBe('stalled');
  patience.observe('other', resource(1, 'AccessDenied'), waiting, 0);
  expect(patience.timed('other', waiting, 0).claim.progress).toBe('waiting');
});
