import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { endAbandonedRuns, RunRecord } from '../../../tools/devcluster/cluster/run-record.ts';
import { findProcess, isRunning, type ProcessIdentity } from '../../../tools/process-identity.ts';

let cache: string;
let child: ChildProcess;
let identity: ProcessIdentity;
let record: RunRecord;

beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'keyframe-runs-test-'));
  child = spawn('sleep', ['600'], { stdio: 'ignore' });
  identity = findProcess(child.pid ?? 0) ?? { pid: 0, stamp: '' };
  record = RunRecord.create(cache, 'run', process.env);
  record.addProcess(identity);
});

afterEach(() => {
  child.kill('SIGKILL');
  rmSync(cache, { recursive: true });
});

/** Changes the note as another moment or machine would have written it. */
function rewrite(changes: Record<string, unknown>): void {
  const path = join(record.folder, 'run.json');
  const note = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  writeFileSync(path, JSON.stringify({ ...note, ...changes }));
}

const launcherIsDead = { launcher: { pid: process.pid, stamp: 'of an earlier process' } };

function sweep(): { ended: number; processRuns: boolean; folderIsThere: boolean } {
  const ended = endAbandonedRuns(cache, process.env);
  return { ended, processRuns: isRunning(identity), folderIsThere: existsSync(record.folder) };
}

test('the processes and the folder of a run whose launcher is dead are ended', () => {
  rewrite(launcherIsDead);
  expect(sweep()).toEqual({ ended: 1, processRuns: false, folderIsThere: false });
});

test('a run whose launcher lives is left alone', () => {
  expect(sweep()).toEqual({ ended: 0, processRuns: true, folderIsThere: true });
});

test('a process that merely has the number of an ended one is left alone', () => {
  rewrite({ ...launcherIsDead, processes: [{ ...identity, stamp: 'of an earlier process' }] });
  expect(sweep()).toEqual({ ended: 1, processRuns: true, folderIsThere: false });
});

test('after a restart of the machine no process is ended, even if number and start time agree', () => {
  rewrite({ boot: 'an earlier one' });
  expect(sweep()).toEqual({ ended: 1, processRuns: true, folderIsThere: false });
});

test('a run of another machine or container that shares the cache folder is left alone', () => {
  rewrite({ ...launcherIsDead, machine: 'another' });
  expect(sweep()).toEqual({ ended: 0, processRuns: true, folderIsThere: true });
});

test('a folder without a note is left while it is young, and removed later', () => {
  const folder = join(cache, 'runs', 'empty');
  mkdirSync(folder);
  expect([endAbandonedRuns(cache, process.env), existsSync(folder)]).toEqual([0, true]);
  utimesSync(folder, 0, 0);
  expect([endAbandonedRuns(cache, process.env), existsSync(folder)]).toEqual([1, false]);
});

test('ending a run ends its processes and removes its folder, which no other user may enter meanwhile', () => {
  expect(statSync(record.folder).mode & 0o777).toBe(0o700);
  record.end();
  expect([isRunning(identity), existsSync(record.folder)]).toEqual([false, false]);
});
