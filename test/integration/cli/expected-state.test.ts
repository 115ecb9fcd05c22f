import { beforeEach, describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: { A: 'old', B: 'old' } });
});
describe('set', () => {
  test('gives no new version to a value that is the same, unless --force is given', async () => {
    const same = await folder.run(['set', 'A=old', 'B=new', '--yes']);
    expect(same.stdout).toBe('KEY  VERSION\nB    2\n');
    expect(same.stderr).toContain('Unchanged: A (--force creates a new version)');
    const nothing = await folder.run(['set', 'A=old']);
    expect(nothing).toMatchObject({ code: 0, stdout: '' });
    expect((await folder.list()).revision).toBe(2);
    expect(await folder.output(['set', 'A=old', '--force'])).toContain('A    2');
  });

  test('with --expected-version writes only to that version', async () => {
    const refused = await folder.run(['set', 'A=new', '--expected-version', '2']);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain('version');
    expect(refused.stderr).toContain('Another user may have changed it');
    const missing = await folder.run(['set', 'NEW=1', '--expected-version', '2']);
    expect(missing.stderr).toContain('\n  To create it, give --expected-version 0 or leave the option out\n');
    expect(missing.stderr).not.toContain('Another user');
    expect((await folder.run(['set', 'A=new', '--expected-version', '0'])).code).toBe(6);
    const made = await folder.json(['set', 'A=new', '--expected-version', '1']);
    expect(made).toMatchObject({ set: [{ key: 'A', version: 2 }], deleted: [], unchanged: [], revision: 2 });
    await folder.output(['set', 'NEW=1', '--expected-version', '0']);
    expect(await folder.secrets()).toEqual({ A: 'new', B: 'old', NEW: '1' });
  });

  test('of --expected-version takes the version as tables print it', async () => {
    expect(await folder.json(['set', 'A=new', '--expected-version', 'v1'])).toMatchObject({ set: [{ version: 2 }] });
    expect(await folder.json(['rotate', 'A', '--expected-version', 'v2'])).toMatchObject({ set: [{ version: 3 }] });
    expect((await folder.run(['rotate', 'A', '--expected-version', 'v2'])).code).toBe(6);
    expect((await folder.run(['rotate', 'A', '--expected-version', 'vv3'])).code).toBe(2);
  });

  test('of rollback does the same, and 0 is for a deleted secret', async () => {
    await folder.patch({ set: { A: 'new' } });
    const line = ['rollback', 'A', '--version', '1'];
    expect((await folder.run([...line, '--expected-version', '1'])).code).toBe(6);
    expect(await folder.secrets()).toEqual({ A: 'new', B: 'old' });
    expect(await folder.json([...line, '--expected-version', 'v2'])).toMatchObject({ version: 3 });
    await folder.patch({ delete: ['A'] });
    const restore = [...line, '--undelete', '--expected-version'];
    expect((await folder.run([...restore, '3'])).code).toBe(6);
    expect(await folder.json([...restore, '0'])).toMatchObject({ version: 4 });
  });

  test.each([
    [['A=1', 'B=2', '--expected-version', '1']],
    [['A=1', '--expected-version', '1', '--expected-revision', '1']],
  ])('refuses what the server could not compare: %j', async (args) => {
    expect((await folder.run(['set', ...args])).code).toBe(2);
  });
});

describe('--expected-revision', () => {
  test.each([
    ['set', ['set', 'A=1']],
    ['rotate', ['rotate', 'A']],
    ['rollback', ['rollback', 'A', '--version', '1']],
    ['unset', ['unset', 'A', '--yes']],
    ['unset --prefix', ['unset', '--prefix', 'A', '--yes']],
    ['push', ['push', '-', '--yes']],
  ])('of %s is a number or an id, and another one is refused', async (_, args) => {
    const { revisionId } = await folder.list();
    const input = 'A=1\n';
    for (const wrong of ['0', '2', '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e']) {
      expect((await folder.run([...args, '--expected-revision', wrong], { input })).code).toBe(6);
    }
    expect(await folder.secrets()).toEqual({ A: 'old', B: 'old' });
    expect(await folder.run([...args, '--expected-revision', '1'], { input })).toMatchObject({ code: 0 });
    await folder.patch({ set: { A: 'old' } });
    const now = await folder.list();
    expect((await folder.run([...args, '--expected-revision', revisionId], { input })).code).toBe(6);
    expect(await folder.run([...args, '--expected-revision', now.revisionId], { input })).toMatchObject({ code: 0 });
  });

  test('of snapshot restore is one as well', async () => {
    const id = (await folder.output(['snapshot', 'create', '--output', 'name'])).trim();
    await folder.patch({ set: { A: 'new' } });
    expect((await folder.run(['snapshot', 'restore', id, '--yes', '--expected-revision', '1'])).code).toBe(6);
    await folder.output(['snapshot', 'restore', id, '--yes', '--expected-revision', '2']);
    expect(await folder.secrets()).toEqual({ A: 'old', B: 'old' });
  });
});

describe('unset --prefix', () => {
  test('lists the keys and asks, and deletes exactly these', async () => {
    await folder.patch({ set: { OLD_1: 'x', OLD_2: 'x' } });
    const refused = await folder.run(['unset', '--prefix', 'OLD_']);
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain('OLD_1, OLD_2');
    expect(Object.keys(await folder.secrets())).toEqual(['A', 'B', 'OLD_1', 'OLD_2']);
    const line = ['unset', '--prefix', 'OLD_'];
    const { shown, code } = await folder.onTerminal(line, [['OLD_1, OLD_2', 'y\n']]);
    expect({ shown, code }).toMatchObject({ shown: expect.stringContaining('Deleted 2 secrets'), code: 0 });
    expect(Object.keys(await folder.secrets())).toEqual(['A', 'B']);
  });

  test('deletes nothing if another user changes the environment before the answer', async () => {
    const running = folder.startOnTerminal(['unset', '--prefix', 'A']);
    await running.shows('Delete A');
    await folder.patch({ set: { AB: 'x' } });
    running.type('y\n');
    expect((await running.ended).code).toBe(6);
    expect(Object.keys(await folder.secrets())).toEqual(['A', 'AB', 'B']);
  });

  test.each([
    [['unset'], 2],
    [['unset', 'A', '--prefix', 'B'], 2],
    [['unset', '--prefix', 'NOTHING_', '--yes'], 5],
  ])('%j ends with %i', async (args, code) => {
    expect((await folder.run(args)).code).toBe(code);
  });
});
