import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RestoreView, SnapshotListView, SnapshotView } from '../../../src/wire/snapshots.ts';
import type { VersionListView } from '../../../src/wire/versions.ts';
import { CommandSite, anyId, anyTime, bothForms } from './command-site.ts';
import { sentence } from './sentence.ts';

let site: CommandSite;

beforeAll(async () => {
  site = await CommandSite.start();
});
afterAll(() => site.close());

describe('4.1 and 4.9 snapshot', () => {
  test(sentence('4.1.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    const named = await place.json<SnapshotView>(['snapshot', 'create', '--name', 'before 2.0']);
    const bare = await place.json<SnapshotView>(['snapshot', 'create']);
    const { snapshots } = await place.json<SnapshotListView>(['snapshot', 'list']);
    expect(snapshots).toEqual([bare, named]);
    expect([bare.name, named.name]).toEqual([null, 'before 2.0']);
  });

  test(sentence('4.9.1.name', 'command'), async () => {
    const place = await site.newPlace();
    for (const flag of ['-n', '--name']) {
      expect(await place.json(['snapshot', 'create', flag, `by ${flag}`])).toMatchObject({ name: `by ${flag}` });
    }
    expect(await place.json(['snapshot', 'create'])).toMatchObject({ name: null });
  });

  test(sentence('4.9.1.desc', 'command'), async () => {
    const place = await site.newPlace();
    for (const flag of ['-d', '--desc']) {
      const made = await place.json(['snapshot', 'create', flag, `by ${flag}`]);
      expect(made).toMatchObject({ description: `by ${flag}`, name: null });
    }
    expect(await place.json(['snapshot', 'create'])).toMatchObject({ description: null });
  });

  test(sentence('4.9.1.scope', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    const made: string[] = [];
    for (const flags of bothForms(place)) {
      const { id, secretCount } = await site.cli.json<SnapshotView>(['snapshot', 'create', ...flags]);
      expect(secretCount).toBe(1);
      made.unshift(id);
    }
    const { snapshots } = await place.json<SnapshotListView>(['snapshot', 'list']);
    expect(snapshots.map(({ id }) => id)).toEqual(made);
    const { code, stderr } = await site.cli.run(['snapshot', 'create', '-o', 'acme']);
    expect(code).toBe(2);
    expect(stderr).toContain('-p <project>');
  });

  test(sentence('4.9.2', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    const other = await site.newPlace({ A: '1' });
    await other.snapshot();
    const { revision, revisionId } = await place.server.list();
    const made = await place.json<SnapshotView>(['snapshot', 'create', '-n', 'x', '-d', 'y']);
    const { id, email } = site.server.owner;
    expect(made).toEqual({
      id: made.id,
      name: 'x',
      description: 'y',
      createdBy: id,
      createdByType: 'user',
      createdByName: email,
      createdAt: anyTime,
      secretCount: 1,
      revision,
      revisionId,
    });
    for (const flags of bothForms(place)) {
      expect(await site.cli.json(['snapshot', 'list', ...flags])).toEqual({ snapshots: [made], nextCursor: null });
    }
  });

  test(sentence('4.9.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1', GONE: 'x' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: '2' });
    await place.server.remove('GONE');
    const plain = ['snapshot', 'restore', snapshotId];
    // It shows the plan and asks; a script confirms with --yes.
    const asked = await site.cli.onTerminal(plain, [['[y/N]', 'y\r']]);
    expect(asked.code).toBe(0);
    expect(asked.shown).toContain('~ A');
    expect(await place.secrets()).toEqual({ A: ['1', 3] });
    await place.server.set({ A: '2' });
    expect((await site.cli.run(plain)).code).toBe(7);
    const answer = await site.cli.json<RestoreView>([...plain, '--yes']);
    expect([answer.restored, answer.skipped, answer.pruned]).toEqual([['A'], ['GONE'], []]);
    expect(await place.secrets()).toEqual({ A: ['1', 5] });
    expect((await site.cli.run(['snapshot', 'restore'])).code).toBe(2);
  });
});

describe('3 states and transitions', () => {
  test(sentence('3.4', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'second' });
    await place.restore(snapshotId);
    expect(await place.versions('A')).toEqual([
      [3, 'rolled_back'],
      [2, 'updated'],
      [1, 'created'],
    ]);
    expect(await place.output(['get', 'A'])).toBe('first');
    expect(await site.lastAudited('snapshot.restore')).toMatchObject({
      outcome: 'success',
      target: { ...place.server.target, snapshotId },
    });
  });

  test(sentence('3.6', 'command'), async () => {
    const place = await site.newPlace({ A: 'first', B: 'b', GONE: 'x' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'second', B: 'c' });
    await place.server.remove('GONE');
    expect(await place.restore(snapshotId)).toMatchObject({ restored: ['A', 'B'], skipped: ['GONE'] });
    expect(await place.secrets()).toEqual({ A: ['first', 3], B: ['b', 3] });
  });

  test(sentence('3.8', 'command'), async () => {
    const place = await site.newPlace({ A: 'first' });
    const made = await place.json<SnapshotView>(['snapshot', 'create', '-n', 'before']);
    await place.output(['set', 'A=second', 'B=later', '--yes']);
    await place.restore(made.id);
    await place.output(['unset', 'A', '--yes']);
    const { organization, project, environment } = place.server.target;
    const shown = await site.cli.json(['snapshot', 'show', made.id]);
    expect(shown).toEqual({ ...made, organization, project, environment });
  });
});

describe('4.3 restore from a snapshot', () => {
  test(sentence('4.3.2', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1', B: 'b1', C: 'c1' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'a2', B: 'b2', C: 'c2' });
    await place.restore(snapshotId);
    expect(await place.secrets()).toEqual({ A: ['a1', 3], B: ['b1', 3], C: ['c1', 3] });
    expect(JSON.parse(await place.output(['pull', '--format', 'json']))).toEqual({ A: 'a1', B: 'b1', C: 'c1' });
  });

  test(sentence('4.3.4', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1', SAME: 's1' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'a2' });
    await place.restore(snapshotId);
    // Also to a secret that was not changed since.
    expect(await place.versions('SAME')).toEqual([
      [2, 'rolled_back'],
      [1, 'created'],
    ]);
    expect((await place.versions('A')).slice(0, 1)).toEqual([[3, 'rolled_back']]);
  });

  test(sentence('4.3.5', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1' });
    const snapshotId = await place.snapshot();
    await place.restore(snapshotId);
    const log = await site.cli.json<{ entries: unknown[] }>(['audit', '-o', 'acme', '--action', 'snapshot.restore']);
    const { id, email } = site.server.owner;
    expect(log.entries[0]).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      at: anyTime,
      actor: { type: 'user', id, name: email },
      action: 'snapshot.restore',
      target: { ...place.server.target, snapshotId },
      outcome: 'success',
      requestId: anyId,
      label: null,
    });
  });

  test(sentence('4.3.6', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1', GONE: 'x' });
    const snapshotId = await place.snapshot();
    await place.output(['unset', 'GONE', '--yes']);
    const answer = await place.restore<RestoreView>(snapshotId);
    expect([answer.restored, answer.skipped]).toEqual([['A'], ['GONE']]);
    expect((await place.run(['get', 'GONE'])).code).toBe(5);
    expect(await place.server.versionRows('GONE')).toEqual([[1, 'created', 'x']]);
  });

  test(sentence('4.3.7', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1' });
    await place.server.set({ A: 'a2' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'a3' });
    const { versions: before } = await place.json<VersionListView>(['versions', 'A']);
    await place.restore(snapshotId);
    const { versions: after } = await place.json<VersionListView>(['versions', 'A']);
    expect(after.slice(1)).toEqual(before);
    expect((await place.server.versionRows('A')).map(([, , value]) => value)).toEqual(['a2', 'a3', 'a2', 'a1']);
  });
});

describe('6 and 7 the audit, and what was deleted', () => {
  test(sentence('6.2.1', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1' });
    const snapshotId = await place.snapshot();
    await place.restore(snapshotId);
    await place.restore(snapshotId);
    const args = ['audit', '-o', 'acme', '--action', 'snapshot.restore', '--limit', '2'];
    const { entries } = await site.cli.json<{ entries: { target: unknown }[] }>(args);
    const target = expect.objectContaining({ ...place.server.target, snapshotId });
    expect(entries.map((entry) => entry.target)).toEqual([target, target]);
  });

  test(sentence('7.2', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1', GONE: 'x' });
    const snapshotId = await place.snapshot();
    await place.server.remove('GONE');
    const { stdout, code } = await site.cli.run(['snapshot', 'restore', snapshotId, '--yes', '--rewrite-unchanged']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Restored: +1: A\n/);
    expect(stdout).toMatch(/Skipped: +1: GONE\n/);
    expect(await place.server.values()).toEqual({ A: 'a1' });
  });
});
