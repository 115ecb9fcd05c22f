import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type RemovalTerms, judgeRemoval } from '../../../src/controller/kinds/cluster-secret-sync/removal.ts';
import { ClusterSyncHarness, clusterSyncs, syncsIn } from './cluster-sync-harness.ts';

/** How many namespaces may lose their SecretSync at once. */

const consentTo = 'keyframe.dev/allow-deletion';

describe('a removal', () => {
  const terms: RemovalTerms = { limit: '50%', consent: undefined, record: undefined, usedConsent: undefined };
  const of = (lost: number, owned: number): { lost: string[]; owned: number; selected: string[] } => ({
    lost: Array.from({ length: lost }, (_, index) => `lost-${index}`),
    owned,
    selected: ['kept'],
  });

  test.each([
    ['half of the namespaces, by default', of(2, 4), '50%'],
    ['one of two', of(1, 2), '50%'],
    ['two of two, if others are selected', of(2, 2), '0%'],
    ['as many as a number says', of(3, 4), 3],
    ['none', of(0, 4), 0],
    ['all for 100%', of(4, 4), '100%'],
  ])('is allowed for %s', (_, plan, limit) => {
    expect(judgeRemoval(plan, { ...terms, limit })).toEqual({ verdict: 'allowed' });
  });

  test.each([
    ['more than half', of(3, 5), '50%'],
    ['two of three', of(2, 3), '50%'],
    ['more than a number', of(2, 9), 1],
    ['one for 0%', of(1, 3), '0%'],
    ['one of one, if none is selected', { ...of(1, 1), selected: [] }, '100%'],
    ['few of many for a large number, if none is selected', { ...of(1, 9), selected: [] }, 100_000],
  ])('is blocked for %s', (_, plan, limit) => {
    expect(judgeRemoval(plan, { ...terms, limit })).toMatchObject({ verdict: 'blocked' });
  });

  test('that was consented to goes on while the selection stays the same, and under that consent alone', () => {
    const all = of(10, 10);
    const blocked = judgeRemoval(all, terms);
    const consent = blocked.verdict === 'blocked' ? blocked.digest : '';
    const begun = judgeRemoval(all, { ...terms, consent });
    expect(begun).toMatchObject({ verdict: 'consented', record: { consent } });
    const record = begun.verdict === 'consented' ? begun.record : undefined;
    const rest = { ...all, lost: all.lost.slice(4), owned: 6 };
    expect(judgeRemoval(rest, { ...terms, consent, record })).toEqual({ verdict: 'consented', record });
    expect(judgeRemoval(rest, { ...terms, consent })).toMatchObject({ verdict: 'blocked' });
    expect(judgeRemoval(rest, { ...terms, record })).toMatchObject({ verdict: 'blocked' });
    expect(judgeRemoval(rest, { ...terms, consent: 'other', record })).toMatchObject({ verdict: 'blocked' });
    const other = { ...rest, selected: ['kept', 'more'] };
    expect(judgeRemoval(other, { ...terms, consent, record })).toMatchObject({ verdict: 'blocked' });
  });
});

describe('namespaces that are selected no more', () => {
  let harness: ClusterSyncHarness;
  let names: string[];

  beforeEach(async () => {
    harness = new ClusterSyncHarness();
    names = harness.putNamespaces(4);
    await harness.generated({ templateSpec: { suspend: true } });
  });

  afterEach(() => harness.controller.stop());

  function unselect(...namespaces: readonly string[]): void {
    for (const name of namespaces) harness.putNamespace(name, {});
  }

  test('lose their SecretSync, if they are few', async () => {
    unselect('team-00', 'team-01');
    await harness.settle();
    expect(harness.children(names)).toEqual(['team-02', 'team-03']);
    expect(harness.parent.status).toMatchObject({ selected: 2 });
  });

  test('keep it, if they are many, until the digest of just these is named; others are made meanwhile', async () => {
    unselect('team-00', 'team-01', 'team-02');
    harness.putNamespace('new');
    await harness.settle();
    expect(harness.children([...names, 'new'])).toEqual([...names, 'new']);
    expect(harness.clusterReady).toMatchObject({ status: 'False', reason: 'RemovalBlocked' });
    expect(harness.clusterReady?.message).toContain('(team-00, team-01, team-02)');
    harness.annotate(consentTo, 'wrong');
    await harness.settle();
    expect(harness.children(names)).toEqual(names);
    harness.annotate(consentTo, harness.askedDigest);
    await harness.settle();
    expect(harness.children([...names, 'new'])).toEqual(['team-03', 'new']);
    expect(harness.parent.status).not.toHaveProperty('removal');
  });

  test('keep it where all are unselected, even if the limit allows all', async () => {
    harness.putClusterSync({ maxRemovedNamespaces: '100%', namespaces: ['nowhere'] });
    await harness.settle();
    expect(harness.children(names)).toEqual(names);
    expect(harness.clusterReady?.message).toContain('The selection is empty');
    harness.annotate(consentTo, harness.askedDigest);
    await harness.settle();
    expect(harness.children(names)).toEqual([]);
    expect(harness.clusterReady?.reason).toBe('NoNamespaces');
  });

  test('keep it where the same ones are lost again: a consent holds once', async () => {
    const lost = ['team-00', 'team-01', 'team-02'];
    unselect(...lost);
    await harness.settle();
    const first = harness.askedDigest;
    harness.annotate(consentTo, first);
    await harness.settle();
    expect(harness.children(names)).toEqual(['team-03']);
    for (const name of lost) harness.putNamespace(name);
    await harness.settle();
    unselect(...lost);
    await harness.settle();
    expect(harness.children(names)).toEqual(names);
    expect(harness.clusterReady?.reason).toBe('RemovalBlocked');
    expect(harness.askedDigest).not.toBe(first);
    harness.annotate(consentTo, harness.askedDigest);
    await harness.settle();
    expect(harness.children(names)).toEqual(['team-03']);
  });

  test('are judged together if they lose their labels one after the other', async () => {
    for (const name of ['team-00', 'team-01', 'team-02']) {
      unselect(name);
      await harness.clock.advance(2000);
    }
    await harness.settle();
    expect(harness.children(names)).toEqual(names);
    expect(harness.clusterReady?.reason).toBe('RemovalBlocked');
    for (const name of ['team-01', 'team-02']) harness.putNamespace(name);
    await harness.settle();
    expect(harness.children(names)).toEqual(['team-01', 'team-02', 'team-03']);
  });

  test('keep it again where they are selected again', async () => {
    unselect('team-00', 'team-01', 'team-02');
    await harness.settle();
    for (const name of names) harness.putNamespace(name);
    await harness.settle();
    expect(harness.clusterReady?.reason).toBe('NotReady');
    expect(harness.takeWrites()).toEqual([]);
  });

  test('do not count if they are deleted', async () => {
    for (const name of ['team-00', 'team-01', 'team-02']) harness.cluster.remove(`/api/v1/namespaces/${name}`);
    await harness.settle();
    expect(harness.takeWrites()).toEqual([]);
    expect(harness.parent.status).toMatchObject({ selected: 1 });
    unselect('team-03');
    harness.putNamespace('new');
    await harness.settle();
    // One of one, beside the new one: those that were deleted are not among the present ones.
    expect(harness.children(['team-03', 'new'])).toEqual(['new']);
  });

  test('do not count if they are deleted while no controller runs', async () => {
    await harness.controller.stop();
    for (const name of ['team-00', 'team-01', 'team-02']) {
      harness.cluster.remove(`${syncsIn(name)}/shared`);
      harness.cluster.remove(`/api/v1/namespaces/${name}`);
    }
    harness = new ClusterSyncHarness({ cluster: harness.cluster });
    harness.putNamespace('team-00');
    await harness.start();
    await harness.settle();
    expect(harness.children(names)).toEqual(['team-00', 'team-03']);
    expect(harness.parent.status).toMatchObject({ selected: 2 });
    expect(harness.clusterReady?.reason).not.toBe('RemovalBlocked');
  });

  test('keep a SecretSync that changed since it was judged', async () => {
    const path = `${syncsIn('team-00')}/shared`;
    harness.cluster.before(/DELETE .*team-00/, () => {
      harness.cluster.put(syncsIn('team-00'), 'shared', ({ metadata }) => {
        metadata.ownerReferences = [];
      });
    });
    unselect('team-00');
    await harness.settle();
    expect(harness.cluster.get(path)).toBeDefined();
  });
});

describe('a removal that takes several passes', () => {
  let harness: ClusterSyncHarness;

  beforeEach(() => {
    harness = new ClusterSyncHarness();
  });

  afterEach(() => harness.controller.stop());

  async function consented(): Promise<string[]> {
    const names = harness.putNamespaces(250);
    harness.putNamespace('kept');
    await harness.generated({ templateSpec: { suspend: true } });
    for (const name of names) harness.putNamespace(name, {});
    await harness.settle();
    expect(harness.clusterReady?.reason).toBe('RemovalBlocked');
    harness.takeWrites();
    harness.annotate(consentTo, harness.askedDigest);
    return names;
  }

  test('begins only when the status keeps the consent, and needs no other one', async () => {
    const names = await consented();
    const held = harness.cluster.holdWatches();
    harness.annotate('other', 'annotation');
    await harness.settle();
    held();
    harness.cluster.before(new RegExp(`PATCH ${clusterSyncs}/shared/status`), () => {
      expect(harness.takeWrites()).toEqual([]);
    });
    await harness.settle();
    expect(harness.takeWrites()).toHaveLength(250);
    expect(harness.children([...names, 'kept'])).toEqual(['kept']);
  });

  test('goes on where the process ended in the middle', async () => {
    const names = await consented();
    let deletions = 0;
    const count = (): void => {
      deletions += 1;
      if (deletions === 130) void harness.controller.stop();
      harness.cluster.before(/DELETE .*secretsyncs/, count);
    };
    harness.cluster.before(/DELETE .*secretsyncs/, count);
    await harness.settle();
    const left = harness.children(names).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(250);
    harness.cluster.mend();
    harness = new ClusterSyncHarness({ cluster: harness.cluster });
    await harness.start();
    await harness.settle();
    expect(harness.children([...names, 'kept'])).toEqual(['kept']);
  });
});
