import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SecretListView } from '../../../src/wire/secrets.ts';
import type { SnapshotListView, SnapshotView } from '../../../src/wire/snapshots.ts';
import type { VersionListView, VersionWithValueView } from '../../../src/wire/versions.ts';
import { type CommandPlace, CommandSite, anyId, anyTime, as } from './command-site.ts';
import { expectBetween } from './contract-site.ts';
import { sentence } from './sentence.ts';

let site: CommandSite;

beforeAll(async () => {
  site = await CommandSite.start();
});
afterAll(() => site.close());

describe('1 what the service does', () => {
  test(sentence('1.0', 'command'), async () => {
    const { cli } = site;
    await cli.output(['org', 'create', 'umbrella']);
    await cli.output(['project', 'create', 'web', '-o', 'umbrella']);
    await cli.output(['env', 'create', 'staging', '-o', 'umbrella', '-p', 'web']);
    await cli.output(['set', 'A=1', '-o', 'umbrella', '-p', 'web', '-e', 'staging']);
    expect(await cli.output(['project', 'list', '-o', 'umbrella', '--output', 'name'])).toBe('web\n');
    expect(await cli.output(['env', 'list', '-o', 'umbrella', '-p', 'web', '--output', 'name'])).toBe('staging\n');
    const scope = ['-o', 'umbrella', '-p', 'web', '-e', 'staging'];
    expect(await cli.output(['list', ...scope, '--output', 'name'])).toBe('A\n');
    for (const elsewhere of [
      ['acme', 'web', 'staging'],
      ['umbrella', 'shop', 'staging'],
      ['umbrella', 'web', 'x'],
    ]) {
      const [organization = '', project = '', environment = ''] = elsewhere;
      const { code } = await cli.run(['list', '-o', organization, '-p', project, '-e', environment]);
      expect({ elsewhere, code }).toEqual({ elsewhere, code: 5 });
    }
  });

  test(sentence('1.1', 'command'), async () => {
    const place = await site.newPlace();
    await place.output(['set', 'A=1']);
    await place.output(['set', 'A=2']);
    await place.output(['rollback', 'A', '--version', '1']);
    expect(await place.versions('A')).toEqual([
      [3, 'rolled_back'],
      [2, 'updated'],
      [1, 'created'],
    ]);
    expect(await place.server.versionRows('A')).toEqual([
      [3, 'rolled_back', '1'],
      [2, 'updated', '2'],
      [1, 'created', '1'],
    ]);
  });

  test(sentence('1.2', 'command'), async () => {
    const place = await site.newPlace({ A: 'a1', B: 'b1' });
    const other = await site.newPlace({ A: 'other' });
    const snapshotId = await place.snapshot();
    await place.server.set({ A: 'a2', B: 'b2' });
    await other.server.set({ A: 'other2' });
    await place.restore(snapshotId);
    expect(await place.server.values()).toEqual({ A: 'a1', B: 'b1' });
    expect(await other.server.values()).toEqual({ A: 'other2' });
  });

  test(sentence('1.3', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    const other = await site.newPlace({ A: '2' });
    const { token } = await site.newToken('-s', 'environment', '--environment-id', place.server.id, '-p', 'read');
    expect(await place.output(['get', 'A'], as(token))).toBe('1');
    expect((await place.run(['set', 'A=2'], as(token))).code).toBe(4);
    expect((await other.run(['get', 'A'], as(token))).code).toBe(5);
    expect(await site.cli.json(['whoami'], as(token))).toMatchObject({
      type: 'service_token',
      scope: 'environment',
      permission: 'read',
      organization: { slug: 'acme' },
    });
  });

  test(sentence('1.5', 'command'), async () => {
    const place = await site.newPlace({ A: '1' });
    await place.restore(await place.snapshot());
    await place.output(['versions', 'A']);
    await place.output(['rollback', 'A', '--version', '1']);
    const { token } = await site.newToken();
    await place.output(['list'], as(token));
    const log = await site.cli.json<{ entries: { action: string }[] }>(['audit', '-o', 'acme', '--limit', '6']);
    expect(log.entries.map(({ action }) => action)).toEqual([
      'secret.list',
      'service_token.create',
      'version.rollback',
      'version.list',
      'snapshot.restore',
      'snapshot.create',
    ]);
  });
});

describe('2.1 the snapshot', () => {
  let place: CommandPlace;
  let described: SnapshotView;
  let bare: SnapshotView;
  let listed: readonly SnapshotView[];
  const span: [number, number] = [0, 0];

  beforeAll(async () => {
    place = await site.newPlace({ A: 'value-of-a' });
    span[0] = Date.now();
    described = await place.json(['snapshot', 'create', '-n', 'before 2.0', '-d', 'the last one of 1.x']);
    span[1] = Date.now();
    bare = await place.json(['snapshot', 'create']);
    listed = (await place.json<SnapshotListView>(['snapshot', 'list'])).snapshots;
  });

  test(sentence('2.1.id', 'command'), async () => {
    expect([described.id, bare.id]).toEqual([anyId, anyId]);
    expect(described.id).not.toBe(bare.id);
    expect(listed.map(({ id }) => id)).toEqual([bare.id, described.id]);
    expect(await site.cli.json(['snapshot', 'show', described.id])).toMatchObject({ id: described.id });
  });

  test(sentence('2.1.name', 'command'), async () => {
    expect([described.name, bare.name]).toEqual(['before 2.0', null]);
    expect(listed.map(({ name }) => name)).toEqual([null, 'before 2.0']);
  });

  test(sentence('2.1.description', 'command'), async () => {
    expect([described.description, bare.description]).toEqual(['the last one of 1.x', null]);
    expect(listed.map(({ description }) => description)).toEqual([null, 'the last one of 1.x']);
  });

  test(sentence('2.1.createdBy', 'command'), async () => {
    const developer = await site.server.newMember('developer');
    const theirs = await place.json<SnapshotView>(['snapshot', 'create'], as(developer.token));
    expect([described.createdBy, theirs.createdBy]).toEqual([site.server.owner.id, developer.id]);
  });

  test(sentence('2.1.createdAt', 'command'), async () => {
    expectBetween(described.createdAt, span);
    expect(listed[1]?.createdAt).toBe(described.createdAt);
  });
});

describe('2.2 the version, and 2.3 the secret', () => {
  let place: CommandPlace;
  let history: VersionListView;
  const span: [number, number] = [0, 0];

  beforeAll(async () => {
    place = await site.newPlace();
    span[0] = Date.now();
    await place.output(['set', 'A=value-1', '--comment', 'the first']);
    await place.output(['set', 'A=value-2']);
    await place.output(['rollback', 'A', '--version', '1', '--comment', 'it broke']);
    span[1] = Date.now();
    history = await place.json(['versions', 'A']);
  });

  test(sentence('2.2.version', 'command'), async () => {
    expect(history.versions.map(({ version }) => version)).toEqual([3, 2, 1]);
    const rows = (await place.output(['versions', 'A'])).trim().split('\n').slice(1);
    expect(rows.map((row) => row.split(' ')[0])).toEqual(['v3', 'v2', 'v1']);
  });

  test(sentence('2.2.changeType', 'command'), async () => {
    expect(history.versions.map(({ changeType }) => changeType)).toEqual(['rolled_back', 'updated', 'created']);
  });

  test(sentence('2.2.changedBy', 'command'), async () => {
    const developer = await site.server.newMember('developer');
    await place.output(['set', 'OTHER=x'], as(developer.token));
    const { versions } = await place.json<VersionListView>(['versions', 'OTHER']);
    expect(versions.map(({ changedBy }) => changedBy)).toEqual([developer.id]);
    expect(history.versions.map(({ changedBy }) => changedBy)).toEqual(Array(3).fill(site.server.owner.id));
  });

  test(sentence('2.2.comment', 'command'), async () => {
    expect(history.versions.map(({ comment }) => comment)).toEqual(['it broke', null, 'the first']);
  });

  test(sentence('2.2.createdAt', 'command'), async () => {
    const times = history.versions.map(({ createdAt }) => createdAt);
    for (const time of times) expectBetween(time, span);
    expect(times.toSorted().toReversed()).toEqual(times);
  });

  test(sentence('2.2.value', 'command'), async () => {
    expect(JSON.stringify(history)).not.toContain('value-');
    expect(await place.output(['versions', 'A'])).not.toContain('value-');
    const valueOf = async (version: string): Promise<string> =>
      (await place.json<VersionWithValueView>(['versions', 'A', '--version', version])).value;
    expect(await Promise.all(['1', '2', '3'].map(valueOf))).toEqual(['value-1', 'value-2', 'value-1']);
  });

  test(sentence('2.3', 'command'), async () => {
    const own = await site.newPlace({ A: '1', B: '2' });
    await own.output(['set', 'A=3']);
    expect(await own.json(['get', 'A'])).toEqual({ key: 'A', value: '3', version: 2, updatedAt: anyTime });
    const list = await own.json<SecretListView>(['pull']);
    expect(list.secrets.map(({ key, value, version }) => [key, value, version])).toEqual([
      ['A', '3', 2],
      ['B', '2', 1],
    ]);
  });
});
