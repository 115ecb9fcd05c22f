import { expect, test } from '@jest/globals';
import { progressLine } from '../../../tools/devcluster/cluster/build-progress.ts';

const steps = [
  { name: 'etcd', typicalMinutes: 1 },
  { name: 'kube-apiserver', typicalMinutes: 6 },
  { name: 'kubectl', typicalMinutes: 1 },
];

test('a progress line has the step, its seconds, what is typical and what is left of all', () => {
  expect(progressLine(steps, 1, 125_000)).toBe(
    '  2/3 kube-apiserver: 125 s (typically 6 min on two cores); about 5 min left in all',
  );
});

test('a step that takes longer than is typical does not make the estimate shrink below the steps to come', () => {
  expect(progressLine(steps, 1, 900_000)).toBe(
    '  2/3 kube-apiserver: 900 s (typically 6 min on two cores); about 1 min left in all',
  );
});

test('near the end it is less than a minute', () => {
  expect(progressLine(steps, 2, 30_000)).toMatch(/; less than 1 min left in all$/);
});
