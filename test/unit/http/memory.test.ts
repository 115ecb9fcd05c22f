import { expect, test } from '@jest/globals';
import { requestMemory } from '../../../src/http/admission/memory.ts';

const mebibyte = 1024 * 1024;
const sumOf = (memory: object): number => Object.values(memory).reduce((sum: number, bytes: number) => sum + bytes, 0);

test('requests take what the process needs not, and leave almost half of it free', () => {
  const free = (512 - 160) * mebibyte;
  const memory = requestMemory(0, 512 * mebibyte);
  expect(sumOf(memory)).toBeLessThanOrEqual(0.56 * free);
  // A full environment and its copies fit.
  expect(memory.transferBytes).toBeGreaterThan(4 * 17 * mebibyte);
  expect(sumOf(requestMemory(128 * mebibyte, 512 * mebibyte))).toBeLessThanOrEqual(0.56 * (free - 128 * mebibyte));
});

test('a machine without a limit gives requests no more than 256 MiB for each purpose', () => {
  expect(requestMemory(0, 2 ** 40)).toEqual({
    transferBytes: 256 * mebibyte,
    readBytes: 256 * mebibyte,
    writeBytes: 256 * mebibyte,
  });
  const { transferBytes } = requestMemory();
  expect(transferBytes).toBeGreaterThanOrEqual(16 * mebibyte);
  expect(transferBytes).toBeLessThanOrEqual(256 * mebibyte);
});
