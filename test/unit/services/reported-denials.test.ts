import { beforeEach, expect, test } from '@jest/globals';
import { type DeniedSource, ReportedDenials } from '../../../src/services/access/reported-denials.ts';

let denials: ReportedDenials;

beforeEach(() => {
  denials = new ReportedDenials();
});

const own: DeniedSource = { cluster: 'fra-1', uid: 'own', source: undefined };

test('a denial is known until another one of the same source is reported', () => {
  expect(denials.isReported(own, 'first')).toBe(false);
  denials.report(own, 'first');
  expect(denials.isReported(own, 'first')).toBe(true);
  denials.report(own, 'second');
  expect([denials.isReported(own, 'first'), denials.isReported(own, 'second')]).toEqual([false, true]);
});

test('a denial is of one source of one SecretSync of one cluster', () => {
  denials.report(own, 'denied');
  for (const other of [{ cluster: 'ams-1' }, { uid: 'other' }, { source: 'shared' }]) {
    expect(denials.isReported({ ...own, ...other }, 'denied')).toBe(false);
  }
});

test('a denial is forgotten after its source was admitted', () => {
  denials.report(own, 'denied');
  denials.forget(own);
  expect(denials.isReported(own, 'denied')).toBe(false);
});

test('a cluster with many denials pushes out its oldest ones, and none of another cluster', () => {
  denials.report(own, 'denied');
  for (let index = 0; index < 25_000; index += 1) {
    denials.report({ cluster: 'busy', uid: `${index}`, source: undefined }, 'denied');
  }
  const ofBusy = (uid: string): boolean => denials.isReported({ cluster: 'busy', uid, source: undefined }, 'denied');
  expect([denials.isReported(own, 'denied'), ofBusy('0'), ofBusy('24999')]).toEqual([true, false, true]);
});
