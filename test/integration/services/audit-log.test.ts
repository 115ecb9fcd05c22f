import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { AuditLog, auditRecord } from '../../../src/services/audit/audit-log.ts';
import { readerTarget } from '../../../src/services/audit/grouped-reads.ts';
import type { AuditedSecretSync, AuditRecord } from '../../../src/store/audit.ts';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { withProxiedDatabase } from '../../support/database/proxied-database.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { callerOf, StoreFixtures } from '../../support/database/store-fixtures.ts';

let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;
let audit: AuditLog;
const inserts = runs(/INSERT INTO audit_entry/);

withProxiedDatabase(
  (given) => {
    ({ server, proxy, database } = given);
    audit = new AuditLog({ database });
  },
  { poolSize: 6 },
);

function record(action: string, more: Partial<AuditRecord> = {}): AuditRecord {
  return {
    organizationId: null,
    actor: { type: 'user', id: randomUUID(), name: 'ann@example.test' },
    action,
    target: {},
    outcome: 'success',
    requestId: randomUUID(),
    sourceAddress: null,
    label: null,
    credential: null,
    cluster: null,
    ...more,
  };
}

const place = { organization: 'acme', cluster: 'test', revision: 1, secrets: 2 };
const reader = { type: 'service_token', id: randomUUID(), name: 'SecretSyncs of team' } as const;

/** A read of the SecretSync with this number; all have the token and the revision in common. */
function readOf(number: number, source?: string): AuditRecord {
  const target = readerTarget({ namespace: 'team', name: `sync-${number}`, uid: `uid-${number}`, source });
  return record('secret.list', { actor: reader, target: { ...place, ...target } });
}

/** The SecretSyncs that an entry of several reads names. */
function namesIn({ target }: Entry): string[] {
  return ((target['secretSyncs'] ?? []) as AuditedSecretSync[]).map(({ name }) => name);
}

function namesOf(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `team/sync-${from + index}`);
}

interface Entry {
  readonly action: string;
  readonly target: Readonly<Record<string, unknown>>;
  readonly [column: string]: unknown;
}

/** What is committed, read past the proxy. */
async function committed(): Promise<Entry[]> {
  const direct = openDatabase({ url: server.url, poolSize: 2 });
  try {
    return (await direct.pool.query<Entry>('SELECT * FROM audit_entry ORDER BY id')).rows;
  } finally {
    await direct.close();
  }
}

async function actions(): Promise<string[]> {
  return (await committed()).map(({ action }) => action);
}

describe('the audit log', () => {
  test('has committed every field of a record when it comes back', async () => {
    const written = record('secret.list', {
      organizationId: randomUUID(),
      target: { organization: 'acme', keys: ['A"B', 'C\\D', 'é,{}'], revision: 7, empty: null, pruned: true },
      outcome: 'denied',
      sourceAddress: '2001:db8::1',
      label: '[Service Token]',
      actor: { type: 'service_token', id: randomUUID(), name: 'NULL "quoted", {braced}' },
    });
    await audit.record(written);
    expect(await committed()).toMatchObject([
      {
        organization_id: written.organizationId,
        actor_type: 'service_token',
        actor_id: written.actor.id,
        actor_name: written.actor.name,
        action: 'secret.list',
        target: written.target,
        outcome: 'denied',
        request_id: written.requestId,
        source_address: '2001:db8::1',
        label: '[Service Token]',
        at: expect.any(Date),
      },
    ]);
  });

  test('writes a lone record at once, and those that come meanwhile together in their order', async () => {
    const held = proxy.hold(inserts);
    const first = audit.record(record('first'));
    await held.arrived();
    const others = Array.from({ length: 40 }, (_, index) => audit.record(record(`then-${index}`)));
    expect(audit.queueLength).toBe(40);
    held.release();
    await Promise.all([first, ...others]);
    expect(proxy.count(inserts)).toBe(2);
    expect(await actions()).toEqual(['first', ...Array.from({ length: 40 }, (_, index) => `then-${index}`)]);
    expect(audit.queueLength).toBe(0);
  });

  test('does not come back before the commit', async () => {
    const held = proxy.hold(inserts);
    let done = false;
    const waiting = audit.record(record('slow')).then(() => (done = true));
    await held.arrived();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(done).toBe(false);
    held.release();
    await waiting;
  });

  test('a faulty row fails alone, and its group is written', async () => {
    const held = proxy.hold(inserts);
    const first = audit.record(record('first'));
    await held.arrived();
    const nul = record('nul', { target: { key: '\u0000' } });
    const noUuid = record('no-uuid', { requestId: 'not a uuid' });
    const group = ['a', 'b', nul, 'c', noUuid, 'd', 'e'].map((each) =>
      audit.record(typeof each === 'string' ? record(each) : each),
    );
    held.release();
    await first;
    const outcomes = await Promise.allSettled(group);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, false, true, true]);
    expect(await actions()).toEqual(['first', 'a', 'b', 'c', 'd', 'e']);
  });

  test('writes reads of SecretSyncs that come meanwhile as few entries, and none returns before', async () => {
    const held = proxy.hold(inserts);
    const first = audit.record(readOf(0));
    await held.arrived();
    let returned = 0;
    const others = Array.from({ length: 130 }, async (_, index) => {
      await audit.record(readOf(index + 1));
      returned += 1;
    });
    expect({ waiting: audit.queueLength, returned }).toEqual({ waiting: 130, returned: 0 });
    held.release();
    await Promise.all([first, ...others]);
    const entries = await committed();
    expect(entries[0]?.['target']).toEqual({ ...place, secretSync: 'team/sync-0', secretSyncUid: 'uid-0' });
    expect(entries.map(namesIn)).toEqual([[], namesOf(1, 100), namesOf(101, 130)]);
    expect(proxy.count(inserts)).toBe(2);
  });

  test('a faulty read fails alone, and the others share their entry', async () => {
    const held = proxy.hold(inserts);
    const first = audit.record(record('first'));
    await held.arrived();
    const reads = Array.from({ length: 8 }, (_, index) => audit.record(readOf(index, index === 5 ? '\u0000' : 'all')));
    held.release();
    await first;
    const outcomes = await Promise.allSettled(reads);
    expect(outcomes.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([5]);
    const names = (await committed()).flatMap((entry) => [...namesIn(entry), String(entry.target['secretSync'])]);
    expect(names.filter((name) => name !== 'undefined')).toEqual([...namesOf(0, 4), ...namesOf(6, 7)]);
  });

  test('refuses with overloaded what would make its queue too long, and serves again afterwards', async () => {
    const small = new AuditLog({ database, queueLimit: 3, groupLimit: 2 });
    const held = proxy.hold(inserts);
    const first = small.record(record('first'));
    await held.arrived();
    const fitting = [1, 2, 3].map((index) => small.record(record(`fits-${index}`)));
    await expect(small.record(record('too-many'))).rejects.toMatchObject({ code: 'overloaded' });
    held.release();
    await Promise.all([first, ...fitting]);
    await small.record(record('again'));
    expect(await actions()).toEqual(['first', 'fits-1', 'fits-2', 'fits-3', 'again']);
    // One alone, then at most two at a time.
    expect(proxy.count(inserts)).toBe(4);
  });

  test('lets clusters take turns, and refuses only what would make the queue of a cluster too long', async () => {
    const small = new AuditLog({ database, queueLimit: 4, groupLimit: 3 });
    const held = proxy.hold(inserts);
    const first = small.record(record('first'));
    await held.arrived();
    const busy = [1, 2, 3, 4].map((index) => small.record(record(`busy-${index}`, { cluster: 'busy' })));
    await expect(small.record(record('too-many', { cluster: 'busy' }))).rejects.toMatchObject({ code: 'overloaded' });
    const others = [small.record(record('other', { cluster: 'other' })), small.record(record('user'))];
    held.release();
    await Promise.all([first, ...busy, ...others]);
    expect(await actions()).toEqual(['first', 'busy-1', 'other', 'user', 'busy-2', 'busy-3', 'busy-4']);
  });

  test('fails every waiting record with store_unavailable while the database is away, and works when it is back', async () => {
    await audit.record(record('before'));
    proxy.refuse();
    proxy.kill();
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => audit.record(record('lost'))));
    for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: 'store_unavailable' } });
    await proxy.accept();
    await audit.record(record('after'));
    expect(await actions()).toEqual(['before', 'after']);
  });

  test('fails with store_unavailable when the database falls silent', async () => {
    await using resources = new AsyncDisposableStack();
    const hurried = openDatabase({ url: proxy.url, poolSize: 6, silenceMs: { reads: 3_000, transactions: 3_000 } });
    resources.defer(() => hurried.close());
    const impatient = new AuditLog({ database: hurried });
    await impatient.record(record('before'));
    proxy.freeze(proxy.connections);
    await expect(impatient.record(record('silent'))).rejects.toMatchObject({ code: 'store_unavailable' });
    await impatient.record(record('after'));
  });

  test('drain comes back when everything is written', async () => {
    const settled: string[] = [];
    for (const name of ['a', 'b', 'c']) void audit.record(record(name)).then(() => settled.push(name));
    await audit.drain();
    expect(settled).toEqual(['a', 'b', 'c']);
    expect(await actions()).toEqual(['a', 'b', 'c']);
    await audit.drain();
  });
});

describe('what is audited of a caller', () => {
  test('a denial goes to the organization that the caller may see, else to the chain of the caller who was refused', async () => {
    const fixtures = new StoreFixtures(database.pool);
    const { organizationId } = await fixtures.environment();
    const token = await fixtures.serviceToken({ organizationId });
    const user = await fixtures.personalToken();
    await audit.recordDenial(callerOf(token.principal), 'secret.write', { organization: 'other' });
    await audit.recordDenial(callerOf(user.principal), 'secret.write', { organization: 'other', organizationId: null });
    await audit.recordDenial(callerOf(user.principal), 'secret.read', { organization: 'mine', organizationId });
    expect(await committed()).toMatchObject([
      { organization_id: organizationId, outcome: 'denied', label: '[Service Token]', actor_id: token.principal.id },
      { organization_id: null, outcome: 'denied', label: null, actor_name: user.principal.name },
      { organization_id: organizationId, outcome: 'denied', target: { organization: 'mine' } },
    ]);
  });

  test('a failure is audited once for each error, with its code, in the chain of the organization acted in', async () => {
    const fixtures = new StoreFixtures(database.pool);
    const { organizationId } = await fixtures.environment();
    const caller = callerOf((await fixtures.personalToken()).principal);
    const error = new DomainError('version_mismatch', 'no');
    await audit.recordFailure(caller, 'secret.write', { organizationId, key: 'A' }, error);
    await audit.recordFailure(caller, 'request', {}, error);
    await audit.recordFailure(caller, 'request', {}, new TypeError('canary'));
    await audit.recordFailure(caller, 'request', {}, 'canary');
    const denial = new DomainError('forbidden', 'no');
    await audit.recordDenial(caller, 'secret.write', {}, denial);
    await audit.recordFailure(caller, 'secret.write', {}, denial);
    const rows = await committed();
    expect(rows).toMatchObject([
      { outcome: 'failed', organization_id: organizationId, target: { key: 'A', error: 'version_mismatch' } },
      { outcome: 'failed', organization_id: null, target: { error: 'internal' } },
      { outcome: 'failed', organization_id: null, target: { error: 'internal' } },
      { outcome: 'denied' },
    ]);
    expect(JSON.stringify(rows)).not.toContain('canary');
  });

  test('service tokens are labelled as actors and as targets', () => {
    const user = callerOf({
      type: 'user',
      id: 'u',
      name: 'n',
      instanceAdmin: false,
      credentialId: 'c',
      tokenCreator: null,
      expiresAt: null,
    });
    const subject = { organizationId: null, target: {} };
    expect(auditRecord(user, { ...subject, action: 'service_token.create' }).label).toBe('[Service Token]');
    expect(auditRecord(user, { ...subject, action: 'secret.list' }).label).toBeNull();
  });
});

describe('the table of the audit', () => {
  test.each([
    'UPDATE audit_entry SET action = $$x$$',
    'DELETE FROM audit_entry',
    'TRUNCATE audit_entry',
    'TRUNCATE audit_entry CASCADE',
  ])('refuses %s', async (statement) => {
    await audit.record(record('kept'));
    await expect(database.pool.query(statement)).rejects.toMatchObject({ code: '42501' });
    expect(await actions()).toEqual(['kept']);
  });
});
