import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { reportsOf } from '../../../src/controller/kinds/secret-sync/fleet/reports.ts';
import type { SecretSync, SecretSyncStatus } from '../../../src/controller/generated/secret-sync.ts';
import { errorCatalogue } from '../../../src/domain/errors/catalogue.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import { checkSyncStateReports, checkUids, checkWaitingPlan } from '../../../src/services/fleet/report-checks.ts';
import { SyncStates } from '../../../src/services/fleet/sync-states.ts';
import { rolloutReport, stateReport } from '../../support/api/state-reports.ts';
import { waitingPlan } from '../../support/api/waiting-plans.ts';

const environmentId = '6f4a1f5e-56d6-4f5c-9a58-5a3a5f4b2a10';
// A report that has it is refused, and the refusal must not quote it.
const planted = 'kf_svc_PLANTED';

function refusalOf(check: () => unknown): DomainError {
  try {
    check();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('a report', () => {
  const workload = { kind: 'Deployment', name: 'web' };
  const ofWorkload = (given: object): Partial<SyncStateReport> => ({
    rollout: rolloutReport({ workloads: [workload, { ...workload, ...given }] }),
  });
  const ids = { revision: 1, revisionId: environmentId };

  test.each<[field: string, given: object]>([
    ['uid', { uid: planted }],
    ['uid', { uid: environmentId.toUpperCase() }],
    ['source', { source: planted }],
    ['source', { source: 'a.b' }],
    ['namespace', { namespace: planted }],
    ['namespace', { namespace: 'a.b' }],
    ['namespace', { namespace: 'a'.repeat(64) }],
    ['name', { name: `${planted}\u0000` }],
    ['name', { name: 'a'.repeat(254) }],
    ['name', { name: 'a\n' }],
    ['environmentId', { environmentId: planted }],
    ['state', { state: planted }],
    ['reason', { reason: planted }],
    ['reason', { reason: 'See https://example.test' }],
    ['reason', { reason: 'A'.repeat(65) }],
    ['reason', { reason: '' }],
    ['wanted.revision', { wanted: { ...ids, revision: -1 } }],
    ['wanted.revision', { wanted: { ...ids, revision: 2 ** 31 } }],
    ['wanted.revisionId', { wanted: { ...ids, revisionId: planted } }],
    ['synced.revision', { synced: { ...ids, revision: 1.5 } }],
    ['syncedAt', { syncedAt: new Date(Number.NaN) }],
    ['syncedAt', { syncedAt: new Date(-1) }],
    ['syncedAt', { syncedAt: new Date(Date.UTC(10_000, 0)) }],
    ['secretName', { secretName: planted }],
    ['rollout.state', { rollout: { ...rolloutReport(), state: planted } }],
    ['rollout.reason', { rollout: rolloutReport({ reason: planted }) }],
    ['rollout.converged.revisionId', { rollout: rolloutReport({ converged: { ...ids, revisionId: planted } }) }],
    ['rollout.workloads', { rollout: rolloutReport({ workloads: Array.from({ length: 17 }, () => workload) }) }],
    ['rollout.workloads.1', ofWorkload({ kind: planted })],
    ['rollout.workloads.1', ofWorkload({ name: planted })],
    ['rollout.workloads.1', ofWorkload({ replicas: -1 })],
    ['rollout.workloads.1', ofWorkload({ updatedReplicas: 2 ** 31 })],
    ['rollout.workloads.1', ofWorkload({ revision: -1 })],
  ])('whose %s has another form is refused whole, without its content', (field, given) => {
    const reports = [stateReport(), { ...stateReport(), ...given }];
    const { code, detail, fields } = refusalOf(() => checkSyncStateReports('home', reports));
    expect([code, fields.map((one) => one.field)]).toEqual(['invalid_input', [`reports.1.${field}`]]);
    expect(detail + JSON.stringify(fields)).not.toMatch(/planted|example/i);
  });

  test.each<[field: string, reports: readonly SyncStateReport[]]>([
    ['reports.1.source', [stateReport({ uid: environmentId }), stateReport({ uid: environmentId })]],
    ['reports.8', Array.from({ length: 9 }, (_, index) => stateReport({ uid: environmentId, source: `s${index}` }))],
    ['reports', Array.from({ length: 1001 }, () => stateReport())],
  ])('is refused at %s, because there is too much of it', (field, reports) => {
    expect(refusalOf(() => checkSyncStateReports('home', reports)).fields).toMatchObject([{ field }]);
  });

  test('of a cluster that has no name is refused, as all it says of its resources', () => {
    const plan = waitingPlan({ environmentId });
    for (const check of [
      () => checkSyncStateReports('a b', []),
      () => checkUids('', []),
      () => checkWaitingPlan('-', plan),
    ])
      expect(refusalOf(check).fields).toMatchObject([{ field: 'cluster' }]);
  });

  test('is refused before any statement', async () => {
    const none = new Proxy({} as never, {
      get: () => {
        throw new Error('a statement');
      },
    });
    const states = new SyncStates(none);
    await expect(states.report('home', [stateReport({ reason: planted })])).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(states.forget('home', [environmentId, planted])).rejects.toMatchObject({
      fields: [{ field: 'uids.1' }],
    });
  });
});

test.each([
  ['uid', { uid: planted }],
  ['namespace', { namespace: planted }],
  ['name', { name: planted }],
])('the plan of a SnapshotRestore is refused for another form of its %s', (field, given) => {
  const plan = waitingPlan({ environmentId, ...given });
  expect(refusalOf(() => checkWaitingPlan('home', plan)).fields).toMatchObject([{ field }]);
});

describe('what a controller reports', () => {
  const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,18}[a-z0-9])?$/);
  const dnsName = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,2}$/);
  const uuid = fc.uuid();
  const name = fc.option(label, { nil: undefined });
  const state = fc.record({ name, environmentId: uuid, revision: fc.nat(2 ** 31 - 1), revisionId: uuid });
  const reasons = [...Object.values(errorCatalogue).map(({ reason }) => reason), 'Synced', 'Suspended', 'RolledBack'];
  const progress = fc.constantFrom('done', 'stalled', 'waiting', 'reconciling', 'suspended');
  // Others can write a status.
  const anyWorkload = fc.record(
    {
      kind: fc.oneof(fc.constantFrom('Deployment', 'StatefulSet', 'DaemonSet'), fc.string()),
      name: fc.oneof(dnsName, fc.string()),
      revision: fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double()),
      replicas: fc.oneof(fc.nat(), fc.integer()),
      updatedReplicas: fc.oneof(fc.nat(), fc.integer()),
    },
    { requiredKeys: ['kind', 'name'] },
  );
  const anyTime = fc.oneof(
    fc.date().map((date) => (Number.isNaN(date.getTime()) ? '' : date.toISOString())),
    fc.constantFrom('0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-11-29T02:00:00Z'),
    fc.string(),
  );

  test('has the forms, whatever others write into the status', () => {
    fc.assert(
      fc.property(
        fc.record({ uid: uuid, namespace: label, name: dnsName }),
        fc.record({
          sources: fc.uniqueArray(state, { selector: (one) => one.name ?? '', maxLength: 8 }),
          isSynced: fc.boolean(),
        }),
        fc.record({
          progress,
          reason: fc.constantFrom(...reasons),
          workloads: fc.array(anyWorkload, { maxLength: 16 }),
        }),
        fc.record({ time: anyTime, target: fc.option(dnsName, { nil: undefined }) }),
        (metadata, { sources, isSynced }, { progress: now, reason, workloads }, { time, target }) => {
          const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
          const named = sources.filter((one) => one.name !== undefined);
          const spec =
            named.length > 0
              ? { sources: named.map((one) => ({ name: one.name, environmentRef })) }
              : { environmentRef };
          const sync = { metadata, spec: { ...spec, target: { name: target } } } as unknown as SecretSync;
          const status = { lastSyncTime: time } as SecretSyncStatus;
          const claim = { progress: now, reason, message: '' } as const;
          const synced = isSynced
            ? { sources, secretCount: 0, target: { name: 'app', uid: '', resourceVersion: '' } }
            : undefined;
          const rollout = {
            claim: { type: 'Converged', status: 'Unknown', reason, message: '' },
            workloads,
            converged: { data: '', sources, targets: [] },
          } as unknown as Parameters<typeof reportsOf>[0]['rollout'];
          checkSyncStateReports('home', reportsOf({ sync, outcome: { claim, sources, synced }, status, rollout }));
        },
      ),
    );
  });

  test('leaves out a workload and a time that it cannot report, and reports the others', () => {
    const sync = {
      metadata: { uid: environmentId, namespace: 'team-a', name: 'app' },
      spec: { environmentRef: { organization: 'acme', project: 'web', name: 'prod' }, target: {} },
    } as unknown as SecretSync;
    const held = [{ name: undefined, environmentId, revision: 1, revisionId: environmentId }];
    const outcome = {
      claim: { progress: 'done', reason: 'Synced', message: '' },
      sources: held,
      synced: { sources: held, secretCount: 1, target: { name: 'app', uid: '' } },
    } as unknown as Parameters<typeof reportsOf>[0]['outcome'];
    const claim = { type: 'Converged', status: 'True', reason: 'Converged', message: '' } as const;
    const workloads = [
      { kind: 'Deployment', name: 'web', replicas: 2 },
      { kind: 'Deployment', name: planted },
    ];
    const status = { lastSyncTime: '0000-01-01T00:00:00Z' } as SecretSyncStatus;
    const [report] = reportsOf({ sync, outcome, status, rollout: { claim, workloads } });
    expect(report).toMatchObject({ syncedAt: null, rollout: { workloads: [{ name: 'web', replicas: 2 }] } });
  });
});
