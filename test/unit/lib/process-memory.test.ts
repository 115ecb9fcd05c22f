import { expect, test } from '@jest/globals';
import { type ProcessMemory, requestMemory } from '../../../src/lib/process-memory.ts';

const mebibyte = 1024 * 1024;
const sumOf = ({ tlsConnections, ...parts }: ProcessMemory): number =>
  Object.values(parts).reduce((sum: number, bytes: number) => sum + bytes, tlsConnections * 192 * 1024);

test('requests take what the process needs not, and leave a quarter of it free', () => {
  const free = (512 - 160) * mebibyte;
  const memory = requestMemory(0, 512 * mebibyte);
  expect(sumOf(memory)).toBeLessThanOrEqual(0.75 * free);
  // A full environment and its copies fit.
  expect(memory.transferBytes).toBeGreaterThan(4 * 17 * mebibyte);
  expect(sumOf(requestMemory(128 * mebibyte, 512 * mebibyte))).toBeLessThanOrEqual(0.75 * (free - 128 * mebibyte));
});

test('a machine without a limit gives requests no more than 256 MiB for each purpose', () => {
  expect(requestMemory(0, 2 ** 40)).toEqual({
    transferBytes: 256 * mebibyte,
    readBytes: 256 * mebibyte,
    writeBytes: 256 * mebibyte,
    tlsConnections: 4_096,
  });
  const { transferBytes } = requestMemory();
  expect(transferBytes).toBeGreaterThanOrEqual(16 * mebibyte);
  expect(transferBytes).toBeLessThanOrEqual(256 * mebibyte);
});
