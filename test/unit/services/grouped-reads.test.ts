import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { groupReads, maxSecretSyncs, readerTarget } from '../../../src/services/audit/grouped-reads.ts';
import type { AuditedSecretSync, AuditRecord, AuditTarget } from '../../../src/store/audit.ts';

const organizationId = randomUUID();

/** What two records differ in, beside the SecretSync and its request. */
interface Kind {
  readonly token: number;
  readonly revision: number;
  readonly secrets: number;
  readonly outcome: AuditRecord['outcome'];
  readonly action: string;
  readonly organizationId: string | null;
  readonly sourceAddress: string | null;
  readonly cluster: string | null;
}

const plain: Kind = {
  token: 1,
  revision: 1,
  secrets: 2,
  outcome: 'success',
  action: 'secret.list',
  organizationId,
  sourceAddress: null,
  cluster: 'test',
};

function recordOf(kind: Kind, more: AuditTarget): AuditRecord {
  const { token, revision, secrets, outcome, action, cluster } = kind;
  return {
    organizationId: kind.organizationId,
    actor: { type: 'service_token', id: `token-${token}`, name: `SecretSyncs of team-${token} (cluster test)` },
    action,
    target: { organization: 'acme', ...more, revision, secrets },
    outcome,
    requestId: randomUUID(),
    sourceAddress: kind.sourceAddress,
    label: '[Service Token]',
    credential: null,
    cluster,
  };
}

function readOf(name: string, kind: Partial<Kind> = {}, source?: string): AuditRecord {
  const target = readerTarget({ namespace: 'team', name, uid: `uid-of-${name}`, source });
  return recordOf({ ...plain, ...kind }, target);
}

function secretSyncsOf({ target }: AuditRecord): readonly AuditedSecretSync[] {
  return (target['secretSyncs'] ?? []) as readonly AuditedSecretSync[];
}

/** The records that an entry stands for, made from what it says. */
function recordsIn(entry: AuditRecord): readonly AuditRecord[] {
  const { secretSyncs, ...place } = entry.target;
  if (secretSyncs === undefined) return [entry];
  return secretSyncsOf(entry).map(({ name, uid, source, requestId }) => {
    const target = { ...place, secretSync: name, secretSyncUid: uid };
    return { ...entry, requestId, target: source === undefined ? target : { ...target, source } };
  });
}

/** As text, whatever the order of fields, in the order of the texts. */
function texts(records: readonly AuditRecord[]): string[] {
  return records
    .map(({ target, ...rest }) =>
      JSON.stringify([
        rest,
        Object.entries(target)
          .map((field) => JSON.stringify(field))
          .toSorted(),
      ]),
    )
    .toSorted();
}

/** What reads must have in common to share an entry. */
function alike(record: AuditRecord): string {
  const { organization, revision, secrets } = record.target;
  return JSON.stringify({ ...record, requestId: '', target: { organization, revision, secrets } });
}

const anyKind = fc.record<Kind>({
  token: fc.constantFrom(1, 2),
  revision: fc.constantFrom(1, 2),
  secrets: fc.constantFrom(2, 3),
  outcome: fc.constantFrom('success', 'success', 'denied', 'failed'),
  action: fc.constantFrom('secret.list', 'secret.list', 'secret.read'),
  organizationId: fc.constantFrom(organizationId, null),
  sourceAddress: fc.constantFrom(null, null, '127.0.0.1'),
  cluster: fc.constantFrom('test', 'other', null),
});
const anyName = fc.integer({ min: 0, max: 400 }).map((index) => `sync-${index}`);
const anySource = fc.option(fc.constantFrom('base', 'more'), { nil: undefined });
const anyRead = fc
  .tuple(anyName, fc.oneof({ weight: 4, arbitrary: fc.constant(plain) }, anyKind), anySource)
  .map(([name, kind, source]) => readOf(name, kind, source));
const anyOther = anyKind.map((kind) => recordOf(kind, { key: 'A' }));
const anyRecords = fc.array(fc.oneof({ weight: 6, arbitrary: anyRead }, anyOther), { maxLength: 250, size: 'max' });

describe('the entries for records of the audit', () => {
  test('have each record once, as it was, and no other', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        expect(texts(groupReads(records).flatMap(recordsIn))).toEqual(texts(records));
      }),
    );
  });

  test('are as few as their limit of SecretSyncs allows', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const entries = groupReads(records);
        for (const entry of entries) expect(secretSyncsOf(entry).length).toBeLessThanOrEqual(maxSecretSyncs);
        const reads = records.filter(({ target }) => 'secretSync' in target);
        const others = records.length - reads.length;
        const sizes = [...Map.groupBy(reads, alike).values()].map(({ length }) => Math.ceil(length / maxSecretSyncs));
        expect(entries.length).toBe(sizes.reduce((sum, size) => sum + size, others));
      }),
    );
  });

  test('keep the order of their first records, and their request', () => {
    fc.assert(
      fc.property(anyRecords, (records) => {
        const entries = groupReads(records);
        const firsts = entries.map(({ requestId }) => records.findIndex((record) => record.requestId === requestId));
        expect(firsts).toEqual(firsts.toSorted((one, other) => one - other));
        for (const entry of entries) expect(recordsIn(entry)[0]?.requestId).toBe(entry.requestId);
      }),
    );
  });

  test('are the records themselves where nothing is shared', () => {
    const records = [readOf('a'), readOf('b', { revision: 2 }), recordOf(plain, { key: 'A' }), recordOf(plain, {})];
    const entries = groupReads(records);
    expect(entries).toHaveLength(records.length);
    for (const [index, entry] of entries.entries()) expect(entry).toBe(records[index]);
  });

  test.each<[string, Partial<Kind>]>([
    ['token', { token: 2 }],
    ['revision', { revision: 2 }],
    ['number of values', { secrets: 3 }],
    ['outcome', { outcome: 'denied' }],
    ['action', { action: 'secret.read' }],
    ['organization', { organizationId: null }],
    ['address', { sourceAddress: '127.0.0.1' }],
    ['cluster', { cluster: 'other' }],
  ])('are two for reads of another %s', (_, kind) => {
    expect(groupReads([readOf('a'), readOf('b', kind)])).toHaveLength(2);
  });
});

test('an entry of several reads names each SecretSync with its source and its request', () => {
  const [first, second, third] = [readOf('a', {}, 'base'), readOf('b'), readOf('a', {}, 'more')];
  expect(groupReads([first, second, third])).toEqual([
    {
      ...first,
      target: {
        organization: 'acme',
        revision: 1,
        secrets: 2,
        secretSyncs: [
          { name: 'team/a', uid: 'uid-of-a', source: 'base', requestId: first.requestId },
          { name: 'team/b', uid: 'uid-of-b', requestId: second.requestId },
          { name: 'team/a', uid: 'uid-of-a', source: 'more', requestId: third.requestId },
        ],
      },
    },
  ]);
});

test('an entry names 100 SecretSyncs at most', () => {
  const records = Array.from({ length: 250 }, (_, index) => readOf(`sync-${index}`));
  expect(groupReads(records).map((entry) => secretSyncsOf(entry).length)).toEqual([100, 100, 50]);
});
