import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { shownClusters } from '../../../src/dashboard/text/clusters.ts';
import { summarizeFleet } from '../../../src/dashboard/text/fleet-summary.ts';
import { organizationsOf } from '../../../src/dashboard/text/organizations.ts';
import { helpfulCommand, meaningOf } from '../../../src/dashboard/text/reasons.ts';
import type { FleetConsumerView } from '../../../src/wire/consumers.ts';

function consumer(given: Partial<FleetConsumerView> = {}): FleetConsumerView {
  return {
    project: 'shop',
    environment: 'production',
    environmentId: 'e1',
    environmentDeleted: false,
    environmentRevision: 1,
    environmentRevisionId: 'r1',
    cluster: 'c1',
    clusterSeenAt: '2026-01-01T00:00:00.000Z',
    stale: false,
    uid: randomUUID(),
    namespace: 'shop',
    name: 'web',
    source: null,
    pinned: false,
    health: 'healthy',
    ready: true,
    stalled: false,
    reason: 'Synced',
    wantedRevision: 1,
    wantedRevisionId: null,
    syncedRevision: 1,
    syncedRevisionId: 'r1',
    syncedAt: null,
    secretName: 'web',
    rollout: null,
    changedAt: '2026-01-01T00:00:00.000Z',
    ...given,
  };
}

const stuck = {
  converged: false,
  stalled: true,
  reason: 'RolloutStuck',
  convergedRevision: null,
  convergedRevisionId: null,
  workloads: [],
};

describe('the clusters of a page', () => {
  const accepted = { generation: null, acceptedGeneration: null, isOutdated: false };
  const rules = { name: 'c1', isHome: true, rules: null, version: 0, ...accepted };

  test('have their SecretSyncs by reason, without those of deleted environments', () => {
    const consumers = [
      consumer(),
      consumer({ cluster: 'c2' }),
      consumer({ environmentDeleted: true }),
      consumer({ health: 'stalled', reason: 'NotFound' }),
      consumer(),
    ];
    const [shown] = shownClusters({ rules: [rules], consumers, served: undefined });
    expect(shown?.groups.map((group) => [group.health, group.reason, group.consumers.length])).toEqual([
      ['stalled', 'NotFound', 1],
      ['healthy', 'Synced', 2],
    ]);
    expect(shown).toMatchObject({ report: { seenAt: '2026-01-01T00:00:00.000Z', isStale: false } });
    expect(shown).toMatchObject({ state: undefined, seenAt: undefined, release: undefined, rules: null });
  });

  test('have their state if it is known, and no report if they report nothing', () => {
    const at = '2026-02-02T00:00:00.000Z';
    const facts = { name: 'c1', isHome: true, state: 'disabled', seenAt: at } as const;
    const served = [{ ...facts, uid: null, disabledAt: at, controller: null, issuer: null, registration: null }];
    expect(shownClusters({ rules: [rules], consumers: [], served })).toEqual([
      { ...facts, rules: null, release: null, report: undefined, groups: [] },
    ]);
    const controller = { release: '1.2.3', protocol: { min: 1, max: 1 }, kinds: ['SecretSync'] };
    const known = [{ ...facts, uid: null, disabledAt: at, controller, issuer: null, registration: null }];
    expect(shownClusters({ rules: [rules], consumers: [], served: known })).toMatchObject([{ release: '1.2.3' }]);
  });

  test.each([
    ['shop', ['dev', 'prod'], 'read', 'Read in shop / dev, prod for SecretSync'],
    ['shop', ['*'], 'read_write', 'Read and write in shop / all environments for SecretSync'],
    ['*', ['*'], 'read', 'Read in all projects for SecretSync'],
  ] as const)('a rule of project %s and environments %s is a sentence', (project, environments, permission, text) => {
    const own = [{ project, environments: [...environments], permission, kinds: ['SecretSync' as const] }];
    const [shown] = shownClusters({ rules: [{ ...rules, rules: own }], consumers: [], served: undefined });
    expect(shown?.rules).toEqual([text]);
  });
});

describe('the summary of a fleet', () => {
  test('groups what is not healthy: first what a person must mend, the largest group first', () => {
    const { counts, total, well, groups } = summarizeFleet([
      consumer(),
      consumer({ health: 'suspended', reason: 'Suspended' }),
      consumer({ health: 'progressing', reason: 'NotFound' }),
      consumer({ health: 'stalled', reason: 'TooLarge' }),
      consumer({ health: 'stalled', reason: 'NotFound', ready: false }),
      consumer({ health: 'stalled', reason: 'NotFound', ready: false }),
    ]);
    expect(total).toBe(6);
    expect(well).toBe(1);
    expect(counts).toEqual({ stalled: 3, behind: 0, stale: 0, progressing: 1, suspended: 1 });
    expect(groups.map(({ health, reason, consumers }) => [health, reason, consumers.length])).toEqual([
      ['stalled', 'NotFound', 2],
      ['stalled', 'TooLarge', 1],
      ['progressing', 'NotFound', 1],
      ['suspended', 'Suspended', 1],
    ]);
  });

  test('takes the reason of the workloads if the Secret itself is in sync', () => {
    const reasons = (given: Partial<FleetConsumerView>) =>
      summarizeFleet([consumer({ health: 'stalled', rollout: stuck, ...given })]).groups.map(({ reason }) => reason);
    expect(reasons({})).toEqual(['RolloutStuck']);
    expect(reasons({ ready: false, reason: 'AccessDenied' })).toEqual(['AccessDenied']);
    expect(reasons({ rollout: { ...stuck, converged: true }, reason: 'RolledBack' })).toEqual(['RolledBack']);
  });

  test('counts by cluster and by environment, without deleted environments', () => {
    const { total, clusters, environments } = summarizeFleet([
      consumer({ cluster: 'b', stale: true, clusterSeenAt: null }),
      consumer({ cluster: 'a', environmentId: 'e2', health: 'stalled' }),
      consumer({ cluster: 'a' }),
      consumer({ cluster: 'gone', environmentDeleted: true, health: 'stalled' }),
    ]);
    expect(total).toBe(3);
    expect(clusters).toEqual([
      { name: 'a', isStale: false, seenAt: '2026-01-01T00:00:00.000Z', consumers: 2 },
      { name: 'b', isStale: true, seenAt: null, consumers: 1 },
    ]);
    expect(environments.get('e2')).toMatchObject({ total: 1, well: 0, counts: { stalled: 1, stale: 0 } });
    expect(environments.get('e1')).toMatchObject({ total: 2, well: 1, counts: { stalled: 0, stale: 1 } });
  });

  test('compares each Secret with the newest revision of its own environment', () => {
    const { counts, environments } = summarizeFleet([
      consumer({ environmentRevision: 5, environmentRevisionId: 'r5' }),
      consumer({ environmentId: 'e2' }),
    ]);
    expect(counts.behind).toBe(1);
    expect(environments.get('e1')).toMatchObject({ revision: 5, well: 0, counts: { behind: 1 } });
    expect(environments.get('e2')).toMatchObject({ revision: 1, well: 1, counts: { behind: 0 } });
  });
});

test('every reason of the documentation has a meaning, and no other one', () => {
  // The tables of reasons, by the heading before each.
  const headings = { 'secret-sync': '### Conditions', merging: '## Reasons', rollout: '## Converged' };
  const tables = Object.entries(headings).map(([name, heading]) => {
    const page = readFileSync(new URL(`../../../docs/resources/${name}.md`, import.meta.url), 'utf8');
    const [, after = ''] = page.split(`\n${heading}\n`);
    return after.split(/\n##/)[0] ?? '';
  });
  const rows = [...tables.join('\n').matchAll(/^\| (?:(?:True|False|Unknown) +\| )?((?:`\w+`(?:, )?)+) +\|/gm)];
  const reasons = rows.flatMap(([, names = '']) => [...names.matchAll(/\w+/g)].map(([name]) => name));
  expect(reasons.length).toBeGreaterThan(45);
  expect(reasons.filter((reason) => meaningOf(reason) === undefined)).toEqual([]);
  expect(meaningOf('toString')).toBeUndefined();
});

test('the command that helps names the SecretSync, and without its namespace finds it', () => {
  expect(helpfulCommand({ namespace: 'shop', name: 'web' })).toBe(
    'kubectl describe secretsyncs.keyframe.dev web -n shop',
  );
  expect(helpfulCommand({ namespace: null, name: 'web' })).toMatch(/ -A --field-selector metadata\.name=web$/);
});

test('a user has the organizations of all roles, each once', () => {
  const organizations = [{ slug: 'b' }, { slug: 'a' }];
  expect(organizationsOf({ organizations })).toEqual(['a', 'b']);
  const rolesByPlace = [{ organization: 'c' }, { organization: 'a' }];
  expect(organizationsOf({ organizations, rolesByPlace })).toEqual(['a', 'b', 'c']);
});
