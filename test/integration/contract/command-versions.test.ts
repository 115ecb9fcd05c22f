import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import type { VersionListView } from '../../../src/wire/versions.ts';
import { CommandSite, anyId, anyTime } from './command-site.ts';
import { notDestroyed } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: CommandSite;

beforeAll(async () => {
  site = await CommandSite.start();
});
afterAll(() => site.close());

describe('3 states and transitions', () => {
  test(sentence('3.1', 'command'), async () => {
    const place = await site.newPlace();
    expect((await place.run(['get', 'A'])).code).toBe(5);
    await place.output(['set', 'A=first']);
    expect(await place.versions('A')).toEqual([[1, 'created']]);
    expect(await place.server.versionRows('A')).toEqual([[1, 'created', 'first']]);
  });

  test(sentence('3.2', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    await place.output(['set', 'A=second']);
    await place.output(['push', '-', '--yes'], { input: 'A=third\n' });
    expect(await place.versions('A')).toEqual([
      [3, 'updated'],
      [2, 'updated'],
      [1, 'created'],
    ]);
    expect(await place.server.values()).toEqual({ A: 'third' });
  });

  test(sentence('3.3', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    await place.server.set({ A: 'second' });
    const { version, changeType } = await place.json<{ version: number; changeType: string }>([
      'rollback',
      'A',
      '--version',
      '1',
    ]);
    expect([version, changeType]).toEqual([3, 'rolled_back']);
    expect(await place.server.versionRows('A')).toEqual([
      [3, 'rolled_back', 'first'],
      [2, 'updated', 'second'],
      [1, 'created', 'first'],
    ]);
    expect(await site.lastAudited('version.rollback')).toMatchObject({
      outcome: 'success',
      target: { ...place.server.target, key: 'A' },
    });
    // A target that does not exist is the condition's other side.
    expect((await place.run(['rollback', 'A', '--version', '9'])).code).toBe(5);
    expect(await place.secrets()).toEqual({ A: ['first', 3] });
  });

  test(sentence('3.5', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    await place.output(['unset', 'A', '--yes']);
    expect((await place.run(['get', 'A'])).code).toBe(5);
    expect(await place.versions('A')).toEqual([[1, 'created']]);
    expect(await place.json(['get', 'A', '--version', '1'])).toMatchObject({ value: 'first' });
    expect(await place.server.values()).toEqual({});
  });
});

describe('4.6 and 4.7 versions and rollback', () => {
  test(sentence('4.6.2', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.server.set({ A: '2' });
    await place.server.set({ A: '3' });
    expect(await place.output(['versions', 'A', '--output', 'name'])).toBe('3\n2\n1\n');
    expect(await place.output(['versions', 'A'])).toMatch(/^VERSION.*\nv3 .*\nv2 .*\nv1 .*\n$/);
  });

  test(sentence('4.7.2', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    await place.server.set({ A: 'second' });
    const { id, email } = site.server.owner;
    expect(await place.json(['rollback', 'A', '--version', '1', '--comment', 'it broke'])).toEqual({
      key: 'A',
      version: 3,
      changeType: 'rolled_back',
      changedBy: id,
      changedByType: 'user',
      changedByName: email,
      comment: 'it broke',
      createdAt: anyTime,
      ...notDestroyed,
      revision: 3,
      revisionId: anyId,
    });
    expect(await place.secrets()).toEqual({ A: ['first', 3] });
  });

  test(sentence('4.7.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1', OTHER: 'x' });
    await place.server.set({ A: '2' });
    await place.server.set({ A: '3' });
    const { versions: before } = await place.json<VersionListView>(['versions', 'A']);
    await place.output(['rollback', 'A', '--version', '1']);
    expect((await place.json<VersionListView>(['versions', 'A'])).versions.slice(1)).toEqual(before);
    expect(await place.output(['get', 'A', '--version', '3'])).toBe('3');
    expect(await place.secrets()).toEqual({ A: ['1', 4], OTHER: ['x', 1] });
  });

  test(sentence('4.7.4', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.output(['rollback', 'A', '--version', '1']);
    const args = ['audit', '-o', 'acme', '--action', 'version.rollback', '--limit', '1'];
    const { entries } = await site.cli.json<{ entries: unknown[] }>(args);
    const { id, email } = site.server.owner;
    expect(entries).toEqual([
      expect.objectContaining({
        actor: { type: 'user', id, name: email },
        action: 'version.rollback',
        target: expect.objectContaining({ ...place.server.target, key: 'A' }),
        outcome: 'success',
      }),
    ]);
  });
});

describe('6, 7 and 9 the audit, what is required, and versioning', () => {
  test(sentence('6.1', 'command'), async () => {
    const help = await site.cli.output(['--help']);
    expect(help).not.toMatch(/webhook|notif/i);
    expect((await site.cli.run(['webhook'])).code).toBe(2);
  });

  test(sentence('6.2.2', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.output(['versions', 'A']);
    await place.output(['versions', 'A', '--version', '1']);
    await place.output(['rollback', 'A', '--version', '1']);
    const args = ['audit', '-o', 'acme', '--action', 'version.', '--limit', '3'];
    const { entries } = await site.cli.json<{ entries: { action: string; target: unknown }[] }>(args);
    const target = expect.objectContaining({ ...place.server.target, key: 'A' });
    expect(entries.map((entry) => [entry.action, entry.target])).toEqual([
      ['version.rollback', target],
      ['version.read', target],
      ['version.list', target],
    ]);
  });

  test(sentence('7.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    const { code, stdout, stderr } = await place.run(['rollback', 'A']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain("required option '--version <n>' not specified");
    expect(await place.secrets()).toEqual({ A: ['1', 1] });
  });

  test(sentence('9.2', 'command'), async () => {
    const place = await site.newPlace();
    await place.output(['set', 'A=1']);
    await place.output(['set', 'A=1', '--force']);
    await place.output(['rollback', 'A', '--version', '1']);
    await place.output(['unset', 'A', '--yes']);
    await place.output(['set', 'A=4']);
    expect(await place.versions('A')).toEqual([
      [4, 'created'],
      [3, 'rolled_back'],
      [2, 'updated'],
      [1, 'created'],
    ]);
    const { secrets } = await place.json<SecretListView>(['pull']);
    expect(secrets).toEqual([{ key: 'A', value: '4', version: 4, updatedAt: anyTime }]);
  });

  test(sentence('9.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.server.set({ A: '2' });
    const before = await place.json(['versions', 'A']);
    await place.output(['unset', 'A', '--yes']);
    expect(await place.json(['versions', 'A'])).toEqual(before);
    expect(await place.output(['get', 'A', '--version', '2'])).toBe('2');
  });
});
