import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { type ClusterRule, leavesRoom } from '../../../src/domain/cluster-ceiling.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { stateReport } from '../../support/api/state-reports.ts';
import { withWorlds } from '../../support/api/with-services.ts';

/** A report takes a place only where the rules of the organization let SecretSyncs of the cluster read. */

let services: TestServices;
let world: World;
let cluster: string;

withWorlds((given) => {
  ({ services, world } = given);
  cluster = `cluster-${randomUUID()}`;
});

interface Ceiling {
  readonly isHome: boolean;
  readonly rules: readonly ClusterRule[] | null;
}

async function setCeiling({ isHome, rules }: Ceiling, disabledAt: Date | null = null): Promise<void> {
  const { pool } = services.database;
  await pool.query(
    `INSERT INTO served_cluster (name, is_home, disabled_at) VALUES ($1, $2, $3)
     ON CONFLICT (name) DO UPDATE SET is_home = excluded.is_home, disabled_at = excluded.disabled_at`,
    [cluster, isHome, disabledAt],
  );
  await pool.query(
    `INSERT INTO cluster_rules (cluster, organization_id, rules, version) VALUES ($1, $2, $3::jsonb, 1)
     ON CONFLICT (cluster, organization_id) DO UPDATE SET rules = excluded.rules`,
    [cluster, world.organization.id, rules === null ? null : JSON.stringify(rules)],
  );
}

async function report(given: Partial<SyncStateReport> = {}): Promise<string> {
  const sent = stateReport({ environmentId: world.environment.id, ...given });
  expect(await services.syncStates.report(cluster, [sent])).toEqual([]);
  return sent.uid;
}

async function reasons(): Promise<string[]> {
  const text = 'SELECT reason FROM sync_state WHERE cluster = $1 ORDER BY reason';
  const { rows } = await services.database.pool.query<{ reason: string }>(text, [cluster]);
  return rows.map(({ reason }) => reason);
}

const rule = (given: Partial<ClusterRule> = {}): ClusterRule => ({
  project: 'web',
  environments: ['prod'],
  permission: 'read',
  kinds: ['SecretSync'],
  ...given,
});

test.each<[string, Ceiling]>([
  ['a home cluster without rules', { isHome: true, rules: null }],
  ['a remote cluster without rules', { isHome: false, rules: null }],
  ['a home cluster with no rule', { isHome: true, rules: [] }],
  ['a rule that names it', { isHome: false, rules: [rule()] }],
  ['a rule for all environments', { isHome: false, rules: [rule({ environments: ['*'] })] }],
  ['a rule for everything', { isHome: false, rules: [rule({ project: '*', environments: ['*'] })] }],
  ['a rule for another environment', { isHome: true, rules: [rule({ environments: ['dev', 'stage'] })] }],
  ['a rule for another project', { isHome: true, rules: [rule({ project: 'shop' })] }],
  ['a rule for ServiceTokens', { isHome: false, rules: [rule({ kinds: ['ServiceToken'] })] }],
  ['a rule for SecretSnapshots', { isHome: false, rules: [rule({ kinds: ['SecretSnapshot'] })] }],
  ['a rule for writing', { isHome: false, rules: [rule({ permission: 'read_write' })] }],
  ['the second of two rules', { isHome: false, rules: [rule({ project: 'shop' }), rule()] }],
  [
    'two rules with half of it each',
    { isHome: false, rules: [rule({ project: 'shop' }), rule({ environments: ['dev'] })] },
  ],
])('%s: a report takes a place as the rules decide', async (_name, ceiling) => {
  expect(world.slugs).toMatchObject({ project: 'web', environment: 'prod' });
  await setCeiling(ceiling);
  await report();
  const isAllowed = leavesRoom(ceiling, { ...world.slugs, permission: 'read', kind: 'SecretSync' });
  expect(await reasons()).toEqual(isAllowed ? ['Synced'] : []);
});

test('a disabled cluster takes no place', async () => {
  await setCeiling({ isHome: true, rules: null }, new Date());
  await report();
  expect(await reasons()).toEqual([]);
});

test('a row that has its place still says that it is refused, and takes no other', async () => {
  const uid = await report();
  await setCeiling({ isHome: true, rules: [] });
  await report({ uid, environmentId: null, state: 'stalled', reason: 'ClusterNotAllowed' });
  expect(await reasons()).toEqual(['ClusterNotAllowed']);
  await report({ uid, namespace: 'team-b', reason: 'Moved' });
  await report({ reason: 'New' });
  expect(await reasons()).toEqual(['ClusterNotAllowed']);
  await setCeiling({ isHome: true, rules: [rule()] });
  await report({ uid, reason: 'Synced' });
  expect(await reasons()).toEqual(['Synced']);
});
