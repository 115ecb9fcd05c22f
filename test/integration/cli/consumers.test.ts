import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RevisionIds } from '../../../src/store/revisions.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import { rolloutReport, stateReport } from '../../support/api/state-reports.ts';
import { type CliFolder, CliSite } from '../../support/cli/cli-site.ts';
import { BreakableProxy } from '../../support/faults/breakable-proxy.ts';
import { laterEndlessLookup } from '../../support/faults/endless-lookup.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let site: CliSite;

beforeAll(async () => {
  site = await CliSite.start();
  resources.defer(() => site.close());
  site.api.services.feed.start();
  await waitFor('the feed to hear', () => site.api.services.feed.ready);
});
afterAll(() => resources.disposeAsync());

/** A folder with an environment, and a cluster whose SecretSyncs read it. */
class Fleet {
  readonly folder: CliFolder;
  readonly cluster = `cluster-${randomUUID().slice(0, 8)}`;
  readonly #environmentId: string;

  private constructor(folder: CliFolder, environmentId: string) {
    this.folder = folder;
    this.#environmentId = environmentId;
  }

  static async make(): Promise<Fleet> {
    const folder = await site.newFolder();
    await folder.patch({ set: { A: '1' } });
    const text = 'SELECT id FROM environment WHERE slug = $1';
    const { rows } = await site.api.services.database.pool.query<{ id: string }>(text, [folder.scope.environment]);
    const fleet = new Fleet(folder, rows[0]?.id ?? '');
    await fleet.seen();
    return fleet;
  }

  async seen(): Promise<void> {
    await site.api.services.syncStates.seen(this.cluster);
  }

  /** Makes the cluster's last sign of life so old. */
  async age(interval: string): Promise<void> {
    const text = 'UPDATE cluster_state SET seen_at = seen_at - $2::interval WHERE cluster = $1';
    await site.api.services.database.pool.query(text, [this.cluster, interval]);
  }

  async report(...reports: readonly Partial<SyncStateReport>[]): Promise<void> {
    const whole = reports.map((given) => stateReport({ environmentId: this.#environmentId, ...given }));
    await site.api.services.syncStates.report(this.cluster, whole);
  }

  /** Writes a revision. */
  async change(value: string): Promise<RevisionIds> {
    await this.folder.patch({ set: { A: value } });
    return await this.now();
  }

  async now(): Promise<RevisionIds> {
    const { revision, revisionId } = await this.folder.list();
    return { revision, revisionId };
  }
}

const wait = (revision: string | number, ...more: readonly string[]): string[] => [
  'wait',
  '--converged',
  '--revision',
  String(revision),
  ...more,
];

describe('consumers', () => {
  test('lists who reads the environment, what they hold and how they are', async () => {
    const fleet = await Fleet.make();
    const ids = await fleet.now();
    const rollout = rolloutReport({ state: 'stalled', reason: 'RolloutStuck' });
    await fleet.report(
      { name: 'app', wanted: ids, synced: ids, rollout },
      { name: 'old', source: 'db', isPinned: true, synced: ids, secretName: 'other' },
      { name: 'lost', namespace: 'team-b', state: 'stalled', reason: 'TokenRevoked' },
    );
    const { stdout, code } = await fleet.folder.run(['consumers']);
    expect(code).toBe(0);
    const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/).slice(0, -1));
    expect(lines.slice(0, 4)).toEqual([
      ['CLUSTER', 'NAMESPACE', 'NAME', 'SOURCE', 'SECRET', 'REVISION', 'HEALTH', 'REASON', 'ROLLOUT'],
      [fleet.cluster, 'team-a', 'app', '-', 'app', '1', 'stalled', 'Synced', 'RolloutStuck'],
      [fleet.cluster, 'team-b', 'lost', '-', 'app', '-', 'stalled', 'TokenRevoked', '-'],
      [fleet.cluster, 'team-a', 'old', 'db', 'other', '1 (pinned)', 'healthy', 'Synced', '-'],
    ]);
    const stalled = await fleet.folder.output(['consumers', '--health', 'stalled', '--reason', 'TokenRevoked']);
    expect(stalled).toContain('lost');
    expect(stalled).not.toContain('old');
    await fleet.age('4 minutes');
    expect(await fleet.folder.output(['consumers', '--cluster', fleet.cluster])).toMatch(/app .* stale /);
  });

  test('prints the whole list as JSON, however many pages it has', async () => {
    const fleet = await Fleet.make();
    await fleet.report(...Array.from({ length: 1000 }, (_, index) => ({ name: `app-${index}` })));
    await fleet.report({ name: 'app-1000' });
    const list = JSON.parse(await fleet.folder.output(['consumers', '--output', 'json'])) as {
      consumers: { name: string }[];
    };
    expect(new Set(list.consumers.map(({ name }) => name)).size).toBe(1001);
  });

  test('says so if there are none', async () => {
    const { folder } = await Fleet.make();
    const { stdout, stderr } = await folder.run(['consumers']);
    expect([stdout, stderr]).toEqual(['', `No SecretSync reads ${folder.place}\n`]);
  });

  test('shows a viewer no namespace', async () => {
    const fleet = await Fleet.make();
    await fleet.report({ namespace: 'hidden' });
    const env = { KEYFRAME_TOKEN: site.world.viewer.token.reveal() };
    const shown = await fleet.folder.run(['consumers', '--output', 'json'], { env });
    expect(shown.stdout).not.toContain('hidden');
    expect(JSON.parse(shown.stdout)).toMatchObject({ consumers: [{ namespace: null, name: 'app' }] });
  });
});

describe('wait --converged', () => {
  test('ends when every consumer has the revision', async () => {
    const fleet = await Fleet.make();
    const [one, two] = [randomUUID(), randomUUID()];
    const before = await fleet.now();
    await fleet.report({ uid: one, synced: before }, { uid: two, synced: before });
    const running = fleet.folder.start(wait(2));
    await fleet.change('2');
    await running.shows('0 of 2 consumers have reached revision 2');
    const after = await fleet.now();
    await fleet.report({ uid: one, synced: after });
    await running.shows('1 of 2 consumers have reached revision 2');
    await fleet.report({ uid: two, synced: after });
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toContain(`${fleet.folder.place} is at revision 2, and 2 consumers have revision 2 or a later one`);
  });

  test('waits for the workloads of a consumer too', async () => {
    const fleet = await Fleet.make();
    const uid = randomUUID();
    const ids = await fleet.now();
    const state = { uid, synced: ids };
    await fleet.report({ ...state, rollout: rolloutReport({ state: 'progressing', reason: 'RollingOut' }) });
    const running = fleet.folder.start(wait(1));
    await running.shows('0 of 1 consumers');
    await fleet.report({ ...state, rollout: rolloutReport({ converged: ids }) });
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  test('names pinned and suspended consumers, and does not wait for them', async () => {
    const fleet = await Fleet.make();
    const [pinned, suspended] = [randomUUID(), randomUUID()];
    await fleet.report(
      { uid: pinned, name: 'pinned', isPinned: true, source: 'db' },
      { uid: suspended, name: 'paused', state: 'suspended', reason: 'Suspended' },
      { name: 'app', synced: await fleet.now() },
    );
    const shown = await fleet.folder.run(wait(1));
    expect(shown.code).toBe(0);
    expect(shown.stderr).toContain('Not waited for: SecretSync team-a/pinned (source db) in cluster');
    expect(shown.stderr).toMatch(/Not waited for: SecretSync team-a\/paused .*\(suspended\)/);
    const whole = JSON.parse(await fleet.folder.output(wait(1, '--output', 'json'))) as unknown;
    const { cluster } = fleet;
    const place = { cluster, namespace: 'team-a' };
    expect(whole).toEqual({
      ...(await fleet.now()),
      consumers: {
        reached: 1,
        exempt: [
          { ...place, uid: suspended, name: 'paused', source: null, why: 'suspended' },
          { ...place, uid: pinned, name: 'pinned', source: 'db', why: 'pinned' },
        ],
      },
    });
  });

  test('ends with 9 if it takes too long, and names who is late and which cluster does not report', async () => {
    const fleet = await Fleet.make();
    const before = await fleet.now();
    await fleet.change('2');
    await fleet.report({ name: 'slow', synced: before, reason: 'ClusterUnavailable', state: 'progressing' });
    await fleet.report({ name: 'new' });
    await fleet.age('5 minutes');
    const late = await fleet.folder.run(wait(2, '--within', '2s'));
    expect(late.code).toBe(9);
    expect(late.stderr).toContain(`Only 0 of 2 consumers have reached revision 2 of ${fleet.folder.place} in time`);
    const at = `in cluster ${fleet.cluster}: the Secret holds`;
    expect(late.stderr).toContain(`SecretSync team-a/slow ${at} revision 1 (ClusterUnavailable, stale)`);
    expect(late.stderr).toContain(`SecretSync team-a/new ${at} no revision (Synced, stale)`);
    expect(late.stderr).toContain(`Cluster ${fleet.cluster} has not reported since`);
  });

  test('ends with 6 for a consumer that a person must repair, and not if it is repaired meanwhile', async () => {
    const fleet = await Fleet.make();
    const uid = randomUUID();
    const ids = await fleet.now();
    const broken = { uid, state: 'stalled', reason: 'AccessDenied' } as const;
    await fleet.report({ uid, synced: ids, wanted: ids });
    await fleet.change('2');
    await fleet.report(broken);
    const began = performance.now();
    const stuck = await fleet.folder.run(wait(2));
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(stuck.code).toBe(6);
    expect(stuck.stderr).toContain(`1 consumer does not reach revision 2 of ${fleet.folder.place}`);
    expect(stuck.stderr).toContain('the Secret holds revision 1 (AccessDenied)');
    expect(stuck.stderr).toContain('kubectl describe secretsyncs.keyframe.dev -n team-a app');
    const running = fleet.folder.start(wait(2));
    await running.shows('0 of 1 consumers');
    await fleet.report({ uid, synced: await fleet.now(), wanted: await fleet.now() });
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  test('does not give up on a consumer that is stalled by an earlier revision', async () => {
    const fleet = await Fleet.make();
    const uid = randomUUID();
    const before = await fleet.now();
    await fleet.report({ uid, wanted: before, state: 'stalled', reason: 'RolledBack' });
    await fleet.change('2');
    // Longer than the 5 seconds after which it gives up on others.
    const late = await fleet.folder.run(wait(2, '--within', '7s'));
    expect(late).toMatchObject({ code: 9 });
  });

  test('waits for the newest revision without --revision', async () => {
    const fleet = await Fleet.make();
    const ids = await fleet.change('2');
    await fleet.report({ name: 'app', wanted: ids, synced: ids });
    const line = ['wait', '--converged', '--within', '20s'];
    expect(await fleet.folder.json(line)).toMatchObject({ ...ids, consumers: { reached: 1 } });
    const newer = await fleet.change('3');
    const late = await fleet.folder.run(['wait', '--converged', '--within', '1s']);
    expect(late).toMatchObject({ code: 9, stderr: expect.stringContaining(`revision ${newer.revision}`) });
    expect(await fleet.folder.run(['wait'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--revision <revision> is missing\n  With --converged it is the newest one'),
    });
  });

  test('takes an id, and only one cluster if that is asked for', async () => {
    const fleet = await Fleet.make();
    const { revisionId } = await fleet.now();
    const last = await fleet.change('2');
    await fleet.report({ synced: last });
    await site.api.services.syncStates.report('removed', [
      stateReport({ environmentId: await environmentIdOf(fleet.folder) }),
    ]);
    const shown = await fleet.folder.run(wait(revisionId, '--cluster', fleet.cluster));
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain('1 consumer has revision 1 or a later one');
    expect(await fleet.folder.run(wait(2, '--within', '1s'))).toMatchObject({ code: 9 });
    const alone = await fleet.folder.run(['wait', '--revision', '2', '--cluster', 'x']);
    expect(alone).toMatchObject({ code: 2 });
    expect(alone.stderr).toContain('--cluster needs --converged');
  });

  test('is not ended by a SecretSync of others that is broken, if it waits for some only', async () => {
    const fleet = await Fleet.make();
    const ids = await fleet.now();
    await fleet.report(
      { name: 'app', synced: ids, wanted: ids },
      { name: 'app', namespace: 'team-b', state: 'stalled', reason: 'TokenRevoked' },
    );
    const broken = await fleet.folder.run(wait(1));
    expect(broken.code).toBe(6);
    expect(broken.stderr).toContain(`waiting for SecretSync team-b/app in cluster ${fleet.cluster}\n`);
    expect(broken.stderr).toContain('To wait only for your own: --namespace <namespace>');
    for (const flags of [
      ['--namespace', 'team-a'],
      ['--secret-sync', 'team-a/app'],
    ]) {
      const own = await fleet.folder.run(wait(1, ...flags));
      expect([own.code, own.stderr]).toEqual([0, expect.stringContaining('and 1 consumer has revision 1')]);
    }
    expect((await fleet.folder.run(wait(1, '--secret-sync', 'app'))).code).toBe(6);
  });

  test('waits for a selected SecretSync that does not read the environment yet', async () => {
    const fleet = await Fleet.make();
    const ids = await fleet.now();
    await fleet.report({ name: 'app', synced: ids, wanted: ids });
    const late = await fleet.folder.run(wait(1, '--secret-sync', 'team-a/new', '--within', '2s'));
    expect(late.code).toBe(9);
    expect(late.stderr).toContain('SecretSync team-a/new: does not read the environment, or was not reported yet');
    const running = fleet.folder.start(wait(1, '--secret-sync', 'team-a/new'));
    await running.shows('waiting for SecretSync team-a/new');
    await fleet.report({ name: 'new', synced: ids, wanted: ids });
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  test('selects by name alone for a caller who sees no namespaces', async () => {
    const fleet = await Fleet.make();
    const ids = await fleet.now();
    await fleet.report(
      { name: 'app', namespace: 'hidden-a', synced: ids, wanted: ids },
      { name: 'broken', namespace: 'hidden-b', state: 'stalled', reason: 'TokenRevoked' },
    );
    const env = { KEYFRAME_TOKEN: site.world.viewer.token.reveal() };
    expect((await fleet.folder.run(wait(1, '--secret-sync', 'app'), { env })).code).toBe(0);
    for (const flags of [
      ['--namespace', 'hidden-a'],
      ['--secret-sync', 'hidden-a/app'],
      ['--namespace', 'none'],
    ]) {
      const refused = await fleet.folder.run(wait(1, ...flags), { env });
      expect(refused.code).toBe(4);
      expect(refused.stderr).toContain('you see no namespaces');
      expect(refused.stderr).not.toContain('hidden');
    }
  });

  test.each([
    [['--revision', '1', '--namespace', 'a'], '--namespace needs --converged'],
    [['--revision', '1', '--secret-sync', 'a'], '--secret-sync needs --converged'],
    [['--revision', '1', '--converged', '--secret-sync', 'a/b/c'], '--secret-sync must be name or namespace/name'],
  ])('refuses %j', async (flags, message) => {
    const { folder } = await Fleet.make();
    const { code, stderr } = await folder.run(['wait', ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test('goes on after an outage of the server', async () => {
    const fleet = await Fleet.make();
    const uid = randomUUID();
    await fleet.report({ uid });
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const running = fleet.folder.start(wait(1), { env: { KEYFRAME_URL: proxy.url } });
    await running.shows('0 of 1 consumers');
    proxy.stop();
    await running.shows('; reconnecting');
    await fleet.report({ uid, synced: await fleet.now() });
    await proxy.resume();
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  test('ends with 9 after --within, even while it looks up the name of the server', async () => {
    const fleet = await Fleet.make();
    await fleet.report({ name: 'late' });
    const proxy = await BreakableProxy.start(site.api.port);
    resources.defer(() => proxy.close());
    const lookups = laterEndlessLookup(fleet.folder.folder);
    const env = { ...lookups.env, KEYFRAME_URL: proxy.url.replace('127.0.0.1', 'localhost') };
    const running = fleet.folder.start(wait(1, '--within', '6s'), { env });
    await running.shows('0 of 1 consumers');
    lookups.begin();
    proxy.stop();
    await proxy.resume();
    await running.shows('the lookup has begun');
    const { code, stderr } = await running.ended;
    expect(code).toBe(9);
    expect(stderr).toContain('Only 0 of 1 consumers have reached revision 1');
    expect(stderr).toContain('SecretSync team-a/late');
  });

  test('ends at once if nothing reads the environment', async () => {
    const { folder } = await Fleet.make();
    const shown = await folder.run(wait(1));
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stderr).toContain('and no SecretSync follows it');
  });
});

async function environmentIdOf({ scope }: CliFolder): Promise<string> {
  const text = 'SELECT id FROM environment WHERE slug = $1';
  const { rows } = await site.api.services.database.pool.query<{ id: string }>(text, [scope.environment]);
  return rows[0]?.id ?? '';
}
