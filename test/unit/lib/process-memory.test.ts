import { expect, test } from '@jest/globals';
import { type ProcessMemory, divideMemory } from '../../../src/lib/process-memory.ts';

const mebibyte = 1024 * 1024;
/** What requests take. */
const sumOf = ({ tlsConnections, transferBytes, readBytes, writeBytes }: ProcessMemory): number =>
  transferBytes + readBytes + writeBytes + tlsConnections * 192 * 1024;

test('requests take only what the process does not need, and leave a quarter of it free', () => {
  const free = (512 - 160) * mebibyte;
  const memory = divideMemory(false, 512 * mebibyte);
  expect(sumOf(memory)).toBeLessThanOrEqual(0.75 * free);
  // A full environment and its copies fit.
  expect(memory.transferBytes).toBeGreaterThan(4 * 17 * mebibyte);
});

test.each([512, 1024, 4096])('requests of a process of %s MiB leave a controller what it needs', (size) => {
  const memory = divideMemory(true, size * mebibyte);
  expect(sumOf(memory)).toBeLessThanOrEqual(0.75 * ((size - 160 - 32) * mebibyte - memory.reconcileBytes));
});

test('reconciles take a quarter of the process, and on a large machine as much as requests', () => {
  expect(divideMemory(false, 512 * mebibyte).reconcileBytes).toBe(128 * mebibyte);
  expect(divideMemory(false, 2 ** 40).reconcileBytes).toBe(256 * mebibyte);
});

test('a machine without a limit gives requests no more than 256 MiB for each purpose', () => {
  expect(divideMemory(false, 2 ** 40)).toMatchObject({
    transferBytes: 256 * mebibyte,
    readBytes: 256 * mebibyte,
    writeBytes: 256 * mebibyte,
    tlsConnections: 4_096,
  });
  const { transferBytes } = divideMemory(false);
  expect(transferBytes).toBeGreaterThanOrEqual(16 * mebibyte);
  expect(transferBytes).toBeLessThanOrEqual(256 * mebibyte);
});
