import { expect, test } from '@jest/globals';
import type { ProgramAnswer } from '../../../tools/devcluster/cluster/discovery.ts';
import { spaceFault } from '../../../tools/devcluster/cluster/network-space.ts';

const faultWith = (answer: ProgramAnswer | undefined): string | undefined => spaceFault({ run: () => answer });

test('a cluster can have a network of its own if the system makes one', () => {
  expect(faultWith({ status: 0, stdout: '', stderr: '' })).toBeUndefined();
});

test('the fault has the words of the system, or names the program that is missing', () => {
  const stderr = 'unshare: unshare failed: Operation not permitted\n';
  const fault = 'the system allows none (unshare: unshare failed: Operation not permitted)';
  expect(faultWith({ status: 1, stdout: '', stderr })).toBe(fault);
  expect(faultWith(undefined)).toBe('unshare is not installed');
});
