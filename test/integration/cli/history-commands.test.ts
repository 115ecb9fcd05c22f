import { describe, expect, test } from '@jest/globals';
import type { CliRunner } from '../../support/cli/cli.ts';
import { withCommandWorld } from '../../support/cli/command-world.ts';
import type { TestApi } from '../../support/api/http.ts';
import type { World } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let scope: string[];

withCommandWorld((given) => {
  ({ api, world, cli, scope } = given);
});

/** Writes values as one change. */
async function write(values: Record<string, string>, deleted: string[] = []): Promise<void> {
  const { organization, project, environment } = world.slugs;
  const path = `/secrets/${organization}/${project}/${environment}`;
  await api.client(world.owner.token).expectStatus(200, 'PATCH', path, { set: values, delete: deleted });
}

async function valueOf(key: string): Promise<string | undefined> {
  const { organization, project, environment } = world.slugs;
  const path = `/secrets/${organization}/${project}/${environment}/${key}`;
  const { status, body } = await api.client(world.owner.token).send('GET', path);
  return status === 404 ? undefined : (body as { value: string }).value;
}

describe('versions and rollback', () => {
  test(`versions lists the newest 20 unless --limit says otherwise, and says that there are more ${sentence('4.9.4.scope', '4.9.4.limit', '8.1')}`, async () => {
    for (let version = 1; version <= 22; version += 1) await write({ MANY: `value-${version}` });
    const all = await cli.run(['versions', 'MANY', ...scope]);
    expect(all.stdout.trimEnd().split('\n')).toHaveLength(21);
    expect(all.stdout).toMatch(/^VERSION +CHANGE +BY +AT +COMMENT\nv22 +updated/);
    expect(all.stderr).toBe('Older versions are not shown; --limit shows more than 20.\n');
    expect(await cli.output(['versions', 'MANY', ...scope, '--limit', '2', '--output', 'name'])).toBe('22\n21\n');
    const listed = await cli.json<{ versions: unknown[]; nextCursor: unknown }>([
      'versions',
      'MANY',
      ...scope,
      '--limit',
      '5000',
    ]);
    expect(listed.versions).toHaveLength(22);
    expect(listed.nextCursor).toBeNull();
  });

  test('versions --version prints one with its value into a pipe, and hides the value on a terminal', async () => {
    await write({ ONE: 'first-value' });
    const line = ['versions', 'ONE', ...scope, '--version', '1'];
    expect(await cli.json(line)).toMatchObject({ version: 1, changeType: 'created', value: 'first-value' });
    for (const args of [line, [...line, '--output', 'json'], [...line, '--output', 'yaml']]) {
      const { shown, code } = await cli.onTerminal(args);
      expect(code).toBe(0);
      expect(shown).toContain('created');
      expect(shown).not.toContain('first-value');
    }
    expect((await cli.onTerminal([...line, '--reveal'])).shown).toContain('first-value');
  });

  test(`rollback makes a new version with the value of the earlier one ${sentence('4.9.5.scope')}`, async () => {
    await write({ BACK: 'old' });
    await write({ BACK: 'new' });
    const answer = await cli.json(['rollback', 'BACK', '--version', '1', ...scope, '--comment', 'it broke']);
    expect(answer).toMatchObject({ version: 3, changeType: 'rolled_back', comment: 'it broke' });
    expect(await valueOf('BACK')).toBe('old');
    expect(await cli.output(['rollback', 'BACK', '--version', '2', ...scope])).toContain('v4, with the value of v2');
  });

  test(`rollback without --version is a usage error that names it ${sentence('4.9.5.version')}`, async () => {
    const { code, stderr } = await cli.run(['rollback', 'BACK', ...scope]);
    expect(code).toBe(2);
    expect(stderr).toContain("required option '--version <n>'");
  });

  test('rollback to a version that is not there ends with 5, of a deleted secret with 6', async () => {
    expect((await cli.run(['rollback', 'BACK', '--version', '99', ...scope])).code).toBe(5);
    await write({ GONE: 'x' });
    await write({}, ['GONE']);
    const { code, stderr } = await cli.run(['rollback', 'GONE', '--version', '1', ...scope]);
    expect(code).toBe(6);
    const [, restore = ''] = /^ {2}Restore it: keyframe (.*)$/m.exec(stderr) ?? [];
    expect(restore).toBe(`rollback GONE --version 1 --undelete ${scope.join(' ')}`);
    expect(stderr).toContain(`  See its versions: keyframe versions GONE ${scope.join(' ')}\n`);
    await cli.output(restore.split(' '));
    expect(await valueOf('GONE')).toBe('x');
    await write({}, ['GONE']);
  });
});

describe('snapshots', () => {
  test(`snapshot create takes -n and -d in their long and short forms, or neither ${sentence('4.9.1.name', '4.9.1.desc', '4.9.1.scope', '4.9.2')}`, async () => {
    const short = await cli.json<{ id: string }>(['snapshot', 'create', '-n', 'before', '-d', 'a release', ...scope]);
    expect(short).toMatchObject({ name: 'before', description: 'a release' });
    const { organization, project, environment } = world.slugs;
    const long = ['--org', organization, '--project', project, '--env', environment];
    const named = await cli.json(['snapshot', 'create', '--name', 'x', '--desc', 'y', ...long]);
    expect(named).toMatchObject({ name: 'x', description: 'y' });
    expect(await cli.json(['snapshot', 'create', ...scope])).toMatchObject({ name: null, description: null });
    const listed = await cli.output(['snapshot', 'list', ...scope]);
    expect(listed).toMatch(/^ID +NAME +SECRETS +BY +AT +DESCRIPTION\n/);
    expect(listed).toContain(short.id);
    expect(await cli.output(['snapshot', 'show', short.id])).toContain(`${organization}/${project}/${environment}`);
  });

  test('snapshot diff lists keys and versions since the snapshot, and between two', async () => {
    await write({ DIFF: 'a' });
    const before = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    expect((await cli.run(['snapshot', 'diff', before])).stderr).toContain('No difference');
    await write({ DIFF: 'b', DIFF_NEW: 'c' });
    const after = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    expect(await cli.output(['snapshot', 'diff', before])).toMatch(/changed +DIFF +v1 +v2\nadded +DIFF_NEW +- +v1\n/);
    expect(await cli.output(['snapshot', 'diff', before, '--against', after, '--output', 'name'])).toBe(
      'DIFF\nDIFF_NEW\n',
    );
  });

  test(`snapshot restore --yes restores, keeps a backup, and skips what was deleted since ${sentence('4.9.3')}`, async () => {
    await write({ RESTORE: 'good', RESTORE_DELETED: 'x' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({ RESTORE: 'broken', RESTORE_LATER: 'y' }, ['RESTORE_DELETED']);
    const answer = await cli.json<Record<string, unknown>>(['snapshot', 'restore', id, '--yes']);
    expect(answer['restored']).toEqual(expect.arrayContaining(['RESTORE']));
    expect(answer['skipped']).toEqual(['RESTORE_DELETED']);
    expect(answer['backupSnapshotId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(await valueOf('RESTORE')).toBe('good');
    expect(await valueOf('RESTORE_LATER')).toBe('y');
    const pruned = await cli.json<Record<string, unknown>>(['snapshot', 'restore', id, '-y', '--prune', '--no-backup']);
    expect(pruned).toMatchObject({ restored: [], pruned: ['RESTORE_LATER'], backupSnapshotId: null });
    expect(await valueOf('RESTORE_LATER')).toBeUndefined();
  });

  test('snapshot restore says how to restore what it skipped too, and that works', async () => {
    await write({ BACK: 'good' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({}, ['BACK']);
    const { stderr } = await cli.run(['snapshot', 'restore', id, '--yes']);
    const advised =
      /deleted after the snapshot.*\n +(?<line>keyframe snapshot restore .*)\n/.exec(stderr)?.groups?.['line'] ??
      'false';
    // It asks on a terminal.
    expect((await cli.bash(advised)).code).toBe(7);
    expect((await cli.bash(`${advised} --yes`)).code).toBe(0);
    expect(await valueOf('BACK')).toBe('good');
    const { stderr: silent } = await cli.run(['snapshot', 'restore', id, '--yes']);
    expect(silent).toBe('');
  });

  test('snapshot restore --dry-run changes nothing, and its plan hash is held to', async () => {
    await write({ PLAN: 'good' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({ PLAN: 'broken' });
    const { planHash } = await cli.json<{ planHash: string }>(['snapshot', 'restore', id, '--dry-run']);
    expect(await valueOf('PLAN')).toBe('broken');
    await write({ PLAN: 'broken again' });
    const outdated = await cli.run(['snapshot', 'restore', id, '--plan-hash', planHash]);
    expect(outdated.code).toBe(6);
    expect(outdated.stderr).toContain('with --dry-run in place of --plan-hash');
    const looked = await cli.run(['snapshot', 'restore', id, '--dry-run', '--plan-hash', planHash]);
    expect(looked.code).toBe(6);
    const { planHash: fresh } = await cli.json<{ planHash: string }>(['snapshot', 'restore', id, '--dry-run']);
    await cli.output(['snapshot', 'restore', id, '--plan-hash', fresh]);
    expect(await valueOf('PLAN')).toBe('good');
  });

  test('snapshot restore asks on a terminal after showing the plan', async () => {
    await write({ ASK: 'good' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({ ASK: 'broken' });
    const no = await cli.onTerminal(['snapshot', 'restore', id], [['[y/N]', 'n\r']]);
    expect(no.code).toBe(7);
    expect(no.shown).toMatch(/Plan for [\s\S]* {2}~ ASK\r\n/);
    const interrupted = await cli.onTerminal(['snapshot', 'restore', id], [['[y/N]', '\u0003']]);
    expect(interrupted.code).toBe(130);
    const closed = await cli.onTerminal(['snapshot', 'restore', id], [['[y/N]', '\u0004']]);
    expect(closed.code).toBe(7);
    expect(await valueOf('ASK')).toBe('broken');
    const yes = await cli.onTerminal(['snapshot', 'restore', id], [['[y/N]', 'y\r']]);
    expect(yes.code).toBe(0);
    expect(await valueOf('ASK')).toBe('good');
  });

  test('snapshot restore leaves unchanged secrets alone unless --rewrite-unchanged is given', async () => {
    await write({ SAME: 'same', OTHER: 'good' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({ OTHER: 'broken', NEW_SINCE: 'x' });
    const refused = await cli.run(['snapshot', 'restore', id, '--prune']);
    expect(refused.code).toBe(7);
    expect(refused.stderr.split('\n')[0]).toMatch(/^Plan for /);
    expect(refused.stderr.split('\n').filter((line) => /^ {2}[~+-]/.test(line))).toEqual([
      '  - NEW_SINCE',
      '  ~ OTHER',
    ]);
    expect(refused.stderr).toContain('add --yes');
    const planned = await cli.run(['snapshot', 'restore', id, '--prune', '--plan']);
    expect(planned.stdout).toMatch(/^ {2}- NEW_SINCE\n {2}~ OTHER\n/);
    expect(planned.stderr).toMatch(/Nothing was changed in .*: 1 changed, 1 deleted, \d+ unchanged/);
    const { restored } = await cli.json<{ restored: string[] }>(['snapshot', 'restore', id, '--prune', '--yes']);
    expect(restored).toEqual(['OTHER']);
    const { versions } = await cli.json<{ versions: unknown[] }>(['versions', 'SAME', ...scope]);
    expect(versions).toHaveLength(1);
    // Nothing differs: there is no question, no revision and no backup.
    const again = await cli.json(['snapshot', 'restore', id]);
    expect(again).toMatchObject({ restored: [], pruned: [], backupSnapshotId: null });
    const all = await cli.json<{ restored: string[] }>(['snapshot', 'restore', id, '--rewrite-unchanged', '--yes']);
    expect(all.restored).toEqual(expect.arrayContaining(['SAME', 'OTHER']));
  });

  test('snapshot restore brings deleted secrets back with --include-deleted, and selects some with --keys', async () => {
    await write({ DB_GONE: 'a', DB_SKIP: 'a', DB_HOST: 'a', WEB_HOST: 'a' });
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    await write({ DB_HOST: 'b', DB_LATER: 'b', WEB_HOST: 'b' }, ['DB_GONE', 'DB_SKIP']);
    const skipped = await cli.output(['snapshot', 'restore', id, '--plan', '--keys', 'DB_*']);
    expect(skipped).toBe(
      [
        '  ~ DB_HOST',
        ...['DB_GONE', 'DB_SKIP'].map((key) => `    ${key}: skipped, because it was deleted since`),
        '',
      ].join('\n'),
    );
    const line = ['snapshot', 'restore', id, '--include-deleted', '--prune', '--keys', 'DB_*', '--exclude', 'DB_SKIP'];
    const shown = await cli.onTerminal(line, [['[y/N]', 'y\r']]);
    expect(shown.shown).toMatch(/\+ DB_GONE\s+~ DB_HOST\s+- DB_LATER\s[^]*Restore 2 secrets and delete 1 in/);
    expect(shown.shown).toMatch(/Recreated:\S* +1: DB_GONE/);
    const values = ['DB_GONE', 'DB_SKIP', 'DB_HOST', 'DB_LATER', 'WEB_HOST'].map(valueOf);
    expect(await Promise.all(values)).toEqual(['a', undefined, 'a', undefined, 'b']);
    const again = await cli.json(['snapshot', 'restore', id, '--include-deleted', '--keys', 'DB_SKIP', '--yes']);
    expect(again).toMatchObject({ restored: [], recreated: ['DB_SKIP'] });
    const bad = await cli.run(['snapshot', 'restore', id, '--keys', 'a b', '--yes']);
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain('--keys must be a glob of keys');
    for (const mode of ['--plan', '--yes']) {
      const { stderr } = await cli.run(['snapshot', 'restore', id, '--keys', 'DB_HSOT', mode]);
      expect(stderr).toContain("warning: no secret of the snapshot matches --keys 'DB_HSOT'\n");
    }
    expect((await cli.run(['snapshot', 'restore', id, '--keys', 'DB_HOST', '--plan'])).stderr).not.toContain('warning');
    await write({}, ['DB_GONE', 'DB_SKIP', 'DB_HOST', 'WEB_HOST']);
  });

  test('snapshot delete asks, and what is unknown ends with 5', async () => {
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    expect((await cli.run(['snapshot', 'delete', id])).code).toBe(7);
    await cli.output(['snapshot', 'delete', id, '--yes']);
    for (const command of ['show', 'diff', 'restore', 'delete']) {
      const unknown = await cli.run(['snapshot', command, id, '--yes']);
      expect(unknown.code).toBe(5);
      expect(unknown.stderr).toContain('keyframe snapshot list');
    }
  });

  test('a snapshot is found by its id, its unique name, or as the latest', async () => {
    const create = async (name: string): Promise<string> =>
      (await cli.output(['snapshot', 'create', '-n', name, ...scope, '--output', 'name'])).trim();
    const shown = async (given: string, flags = scope): Promise<string> =>
      (await cli.output(['snapshot', 'show', given, ...flags, '--output', 'name'])).trim();
    const first = await create('named');
    expect(await shown(first.toUpperCase(), [])).toBe(first);
    expect([await shown(first), await shown('named'), await shown('latest')]).toEqual([first, first, first]);
    const second = await create('other');
    expect([await shown('named'), await shown('latest')]).toEqual([first, second]);
    const against = await cli.json(['snapshot', 'diff', 'named', '--against', 'latest', ...scope]);
    expect(against).toMatchObject({ snapshotId: first, against: second });
    expect(await cli.json(['snapshot', 'diff', 'named', '--against', 'current', ...scope])).toMatchObject({
      against: 'current',
    });
    await cli.output(['snapshot', 'restore', 'named', '--yes', ...scope]);
    const third = await create('named');
    for (const command of ['show', 'diff', 'restore', 'delete']) {
      const ambiguous = await cli.run(['snapshot', command, 'named', '--yes', ...scope]);
      expect(ambiguous.code).toBe(2);
      expect(ambiguous.stderr).toContain('2 snapshots of');
      expect(ambiguous.stderr).toMatch(new RegExp(`${third} .*\\n +${first} `));
      const unknown = await cli.run(['snapshot', command, 'nmed', '--yes', ...scope]);
      expect(unknown.code).toBe(5);
      expect(unknown.stderr).toMatch(/has the name "nmed"\n +Did you mean named\?\n.*keyframe snapshot list -o /);
    }
    await cli.output(['snapshot', 'delete', 'latest', '--yes', ...scope]);
    expect(await shown('named')).toBe(first);
  });

  test('a snapshot by its id needs no flags, and flags that name another environment are refused', async () => {
    const id = (await cli.output(['snapshot', 'create', ...scope, '--output', 'name'])).trim();
    const { code, stderr } = await cli.run(['snapshot', 'delete', id, '-e', 'elsewhere', '--yes']);
    expect(code).toBe(2);
    expect(stderr).toContain(`snapshot ${id} is one of ${world.slugs.organization}/`);
    expect((await cli.run(['snapshot', 'show', 'named'])).stderr).toContain('Add -o <organization>');
  });

  test('snapshot prune shows what goes and why the rest stays, asks, and deletes just that', async () => {
    const create = async (name: string): Promise<string> =>
      (await cli.output(['snapshot', 'create', '--name', name, ...scope, '--output', 'name'])).trim();
    const ids = [await create('pruned-1'), await create('pruned-2'), await create('pruned-3'), await create('other')];
    const prune = ['snapshot', 'prune', '--keep-last', '1', '--name-prefix', 'pruned-', ...scope];
    const plan = await cli.output([...prune, '--dry-run']);
    expect(plan).toContain('would delete');
    expect(plan).toMatch(/keep\s+\S+\s+pruned-3\s+\S+\s+last 1, newest successful/);
    expect(plan).not.toContain('other');
    const { code } = await cli.run([...prune, '--dry-run', '--plan-hash', 'x'.repeat(43)]);
    expect(code).toBe(6);
    const refused = await cli.run(prune);
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('pruned-1');
    const done = await cli.json<{ pruned: { id: string }[] }>([...prune, '--yes']);
    expect(done.pruned.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    const left = await cli.output(['snapshot', 'list', ...scope, '--output', 'name']);
    expect(ids.map((id) => left.includes(id))).toEqual([false, false, true, true]);
    expect((await cli.run(['snapshot', 'prune', ...scope])).stderr).toContain('no --keep flag was given');
    expect((await cli.run([...prune, '--time-zone', 'Mars/Olympus'])).stderr).toContain('IANA');
  });

  test('snapshot prune deletes nothing when other snapshots would go than those it showed', async () => {
    const create = async (name: string): Promise<string> =>
      (await cli.output(['snapshot', 'create', '--name', name, ...scope, '--output', 'name'])).trim();
    const ids = [await create('shown-1'), await create('shown-2')];
    const prune = ['snapshot', 'prune', '--keep-last', '1', '--name-prefix', 'shown-', ...scope];
    const command = cli.startOnTerminal(prune);
    await command.shows('[y/N]');
    ids.push(await create('shown-3'));
    command.type('y\r');
    const { code, stdout } = await command.ended;
    expect(stdout).toContain('run the command again');
    expect(code).toBe(6);
    const left = await cli.output(['snapshot', 'list', ...scope, '--output', 'name']);
    expect(ids.map((id) => left.includes(id))).toEqual([true, true, true]);
    const again = await cli.onTerminal(prune, [['[y/N]', 'n\r']]);
    expect(again.shown).toContain(ids[1]);
    const { planHash } = await cli.json<{ planHash: string }>([...prune, '--dry-run']);
    ids.push(await create('shown-4'));
    expect((await cli.run([...prune, '--plan-hash', planHash])).code).toBe(6);
    const { planHash: fresh } = await cli.json<{ planHash: string }>([...prune, '--dry-run']);
    const done = await cli.json<{ pruned: { id: string }[] }>([...prune, '--plan-hash', fresh]);
    expect(done.pruned.map(({ id }) => id)).toEqual(ids.slice(0, 3).toReversed());
  });

  test('the tables of the history have a column of clusters only if one vouched', async () => {
    const { id } = await cli.json<{ id: string }>(['snapshot', 'create', '-n', 'vouched', ...scope]);
    await write({ VOUCHED: '1' });
    await write({}, ['VOUCHED']);
    const lines = [
      ['history', ...scope],
      ['versions', 'VOUCHED', ...scope],
      ['snapshot', 'list', ...scope],
      ['list', '--deleted', ...scope],
    ];
    for (const line of lines)
      expect([line, await cli.output(line)]).toEqual([line, expect.not.stringMatching(/CLUSTER/)]);
    const { pool } = api.services.database;
    const { id: environmentId } = world.environment;
    await pool.query(`UPDATE environment_revision SET actor_cluster = 'fra-1' WHERE environment_id = $1`, [
      environmentId,
    ]);
    await pool.query(`UPDATE snapshot SET created_by_cluster = 'fra-1' WHERE id = $1`, [id]);
    for (const line of lines) {
      const output = await cli.output(line);
      expect([line, output]).toEqual([line, expect.stringMatching(/^.* BY +CLUSTER\b[^]* fra-1\b/)]);
    }
    expect(await cli.output(['snapshot', 'show', id, ...scope])).toMatch(/^Cluster: +fra-1$/m);
  });

  test('history shows who changed which keys, and --since leaves out what was before', async () => {
    await write({ HISTORY: 'value-of-history' });
    const output = await cli.output(['history', ...scope, '--limit', '1']);
    expect(output).toContain('HISTORY v1');
    expect(output).not.toContain('value-of-history');
    const [revision] = (await cli.output(['history', ...scope, '--limit', '1', '--output', 'name'])).split('\n');
    expect((await cli.run(['history', ...scope, '--since', revision ?? ''])).stderr).toBe(
      'Nothing has changed since then.\n',
    );
  });
});
