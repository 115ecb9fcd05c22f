import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** The script of the CronJob that dumps the chart's own PostgreSQL, with programs in the place of PostgreSQL's. */

const source = readFileSync(join(checkoutDirectory, 'charts', 'keyframe', 'files', 'backup.sh'), 'utf8');
let folder: string;
let dumps: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-backup-'));
  dumps = join(folder, 'dumps');
  mkdirSync(dumps);
  writeFileSync(join(folder, 'password'), 'opensesame');
  program('pg_restore', 'grep -q complete "$2"');
  program(
    'pg_dump',
    'for word; do case $word in --file=*) printf "complete as %s" "$PGPASSWORD" > "${word#--file=}";; esac; done',
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): void {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\necho "${name} $*" >> ${folder}/calls\n${script}\n`);
  chmodSync(file, 0o755);
}

function backUp(keep: number): { readonly status: number | null; readonly output: string } {
  const script = source.replaceAll('/backup', dumps).replaceAll('/etc/postgres/password', join(folder, 'password'));
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, KEEP: String(keep) };
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

const old = (day: number): string => `keyframe-2026010${day}T030000Z.dump`;
const put = (...names: readonly string[]): void => names.forEach((name) => writeFileSync(join(dumps, name), 'old'));

test('a dump is written for its owner only, and its name is its time', () => {
  expect(backUp(14)).toMatchObject({ status: 0, output: expect.stringMatching(/wrote .*\.dump$/m) });
  const [name = '', ...others] = readdirSync(dumps);
  expect([name, others]).toEqual([expect.stringMatching(/^keyframe-\d{8}T\d{6}Z\.dump$/), []]);
  expect(readFileSync(join(dumps, name), 'utf8')).toBe('complete as opensesame');
});

test('the password is in no command line', () => {
  backUp(14);
  const calls = readFileSync(join(folder, 'calls'), 'utf8');
  expect(calls).toContain('pg_dump --format=custom --no-owner --no-acl --file=');
  expect(calls).not.toContain('opensesame');
});

test('only the newest dumps are kept, and other files are left alone', () => {
  put(old(1), old(2), old(3), 'notes.txt', 'keyframe.txt');
  expect(backUp(2).status).toBe(0);
  const left = readdirSync(dumps).sort();
  expect(left).toHaveLength(4);
  expect(left).toEqual(expect.arrayContaining([old(3), 'keyframe.txt', 'notes.txt']));
});

test.each([
  ['pg_dump fails', 'pg_dump', 'exit 1'],
  ['the dump cannot be read', 'pg_restore', 'exit 1'],
])('if %s, the run fails, and every former dump stays', (_when, name, script) => {
  put(old(1), old(2));
  program(name, script);
  expect(backUp(1).status).not.toBe(0);
  expect(readdirSync(dumps).filter((file) => file.endsWith('.dump'))).toEqual([old(1), old(2)]);
});

test('the part of a dump that an interrupted run left is removed', () => {
  put('keyframe-20260101T030000Z.dump.part');
  expect(backUp(1).status).toBe(0);
  expect(readdirSync(dumps)).toEqual([expect.stringMatching(/\.dump$/)]);
});
