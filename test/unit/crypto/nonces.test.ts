import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

const run = promisify(execFile);

/** The nonces of values that a process seals right after its start. */
async function noncesOfProcess(): Promise<string[]> {
  const { stdout } = await run(process.execPath, [join(checkoutDirectory, 'test/support/api/seal-some.ts')]);
  return JSON.parse(stdout) as string[];
}

test('no nonce repeats within a process or in another one that starts afresh', async () => {
  const nonces = (await Promise.all([noncesOfProcess(), noncesOfProcess()])).flat();
  expect(nonces).toHaveLength(128);
  expect(nonces.every((nonce) => /^[0-9a-f]{24}$/.test(nonce))).toBe(true);
  expect(new Set(nonces).size).toBe(128);
});

test('each byte of a nonce varies, so no part of it is a counter or a constant', async () => {
  const nonces = await noncesOfProcess();
  for (let byte = 0; byte < 12; byte += 1) {
    const values = new Set(nonces.map((nonce) => nonce.slice(2 * byte, 2 * byte + 2)));
    // 64 random bytes have fewer than 40 different values about once in 10^10 runs.
    expect(values.size).toBeGreaterThan(40);
    expect(nonces.slice(1).every((nonce, index) => follows(nonces[index] ?? '', nonce, byte))).toBe(false);
  }
});

/** Whether a byte of a nonce is one more than that of the nonce before. */
function follows(before: string, after: string, byte: number): boolean {
  const at = (nonce: string): number => Number.parseInt(nonce.slice(2 * byte, 2 * byte + 2), 16);
  return at(after) === (at(before) + 1) % 256;
}
