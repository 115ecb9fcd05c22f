import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { ProcessorCost } from '../../../tools/test-run/cost.ts';
import { openProcessTable, type ProcessTable } from '../../../tools/test-run/process-table.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const tree: ChildProcess[] = [];

afterEach(() => {
  for (const { pid } of tree.splice(0)) if (pid !== undefined) endGroup(pid);
});

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A script that uses the processor for so long, whatever runs beside it. */
const burn = (ms: number): string => `{
  const usedMs = () => (process.cpuUsage().user + process.cpuUsage().system) / 1000;
  for (const endMs = usedMs() + ${ms}; usedMs() < endMs; ) for (let turn = 0; turn < 1e6; turn += 1);
}`;

/** Starts Node.js with a script, in a process group that ends with the test. */
function start(script: string): ChildProcess {
  const child = spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  tree.push(child);
  return child;
}

function table(): ProcessTable {
  const found = openProcessTable();
  if (found === undefined) throw new Error('This test needs /proc.');
  return found;
}

/** Seconds of the step of a child, by program. */
function secondsOf(cost: ProcessorCost): Record<string, number> {
  const ofStep = cost.rows.filter(({ step }) => step === 'burning');
  return Object.fromEntries(ofStep.map(({ program, ms }) => [program, ms / 1000]));
}

test('the time of a child, of its children that no look saw, and of an orphan is counted once', async () => {
  // The child uses 1 s, and a grandchild that ends between two looks 0.6 s. An orphan uses 0.4 s before and after its parent ends.
  const orphan = `${burn(400)} process.once('SIGUSR2', () => { ${burn(400)} console.log('burnt'); }); console.log('half'); setInterval(() => {}, 1000);`;
  const script = `
    const { spawn, spawnSync } = require('node:child_process');
    ${burn(1000)}
    spawnSync('/bin/sh', ['-c', 'exec "$0" -e "$1"', process.execPath, ${JSON.stringify(burn(600))}]);
    const orphan = spawn(process.execPath, ['--title=orphan', '-e', ${JSON.stringify(orphan)}], { stdio: ['ignore', 'inherit', 'inherit'] });
    console.log('started ' + orphan.pid);
    process.on('SIGUSR2', () => process.exit());
    setInterval(() => {}, 1000);`;
  const cost = new ProcessorCost(table(), { pid: process.pid, step: 'test' });
  const child = start(script);
  cost.follow(child.pid ?? 0, 'burning');
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => void (output += text));
  const printed = (word: string): Promise<string> =>
    waitFor(word, () => new RegExp(`^${word}.*$`, 'm').exec(output)?.[0], { timeoutMs: 60_000 });
  const orphanPid = Number((await printed('started')).split(' ')[1]);
  await printed('half');
  cost.sample();
  const before = secondsOf(cost);
  child.kill('SIGUSR2');
  await once(child, 'exit');
  cost.sample();
  process.kill(orphanPid, 'SIGUSR2');
  await printed('burnt');
  cost.sample();
  const after = secondsOf(cost);
  // Node.js itself takes some time to start.
  const expectAbout = (seconds: number | undefined, expected: number): void => {
    expect(seconds).toBeGreaterThan(expected - 0.05);
    expect(seconds).toBeLessThan(expected + 0.5);
  };
  expectAbout(before['node'], 1);
  expectAbout(before['children of node'], 0.6);
  expectAbout(before['orphan'], 0.4);
  expectAbout(after['orphan'], 0.8);
  expect({ ...after, orphan: 0 }).toEqual({ ...before, orphan: 0, node: after['node'] });
  expectAbout(after['node'], 1);
});
