import { describe, expect, test } from '@jest/globals';
import { storeSources } from '../../support/database/store-statements.ts';
import { handwrittenRecords, readModelColumns } from './store-records.ts';

/** Records that name the types of columns themselves, each with the reason. */
const allowed: Readonly<Record<string, string>> = {
  'foreign-sign-ins.ts: id, name, createdAt of PersonalToken': 'a row of one of four tables',
};

const models = readModelColumns();

test('what the store returns takes the types of its columns from Prisma', () => {
  expect(models.get('ServiceToken')).toContain('organizationId');
  expect(handwrittenRecords(storeSources(), models)).toEqual(Object.keys(allowed));
});

const found = (source: string): string[] => handwrittenRecords(new Map([['a.ts', source]]), models);
const record = 'interface A { readonly planHash: string; readonly changedAt: Date | null; readonly isNew: boolean }';

describe('a planted record is found:', () => {
  test.each([
    ['of a read', `${record} const a = queryRows<A>(pool, sql\`\`);`],
    ['of a transaction', `${record} const a = tx.row<A>\`\`;`],
    ['in a list that a function returns', `${record} function a(): Promise<A[] | undefined> {}`],
    ['with other columns', `${record} const a = tx.rows<Omit<A, 'isNew'> & { readonly count: number }>\`\`;`],
    ['as an alias', `${record.replace('interface A', 'type A = B &')}; const a = tx.rowsUnprepared<A>('');`],
    ['without a name', `const a = tx.rows<{ planHash: string; changedAt: Date }>\`\`;`],
  ])('%s', (_name, source) => {
    expect(found(source)).toEqual(['a.ts: planHash, changedAt of WaitingRestore']);
  });
});

describe('no such record is', () => {
  test.each([
    ['a type that is only given', `${record} function a(given: A): Promise<void> {}`],
    [
      'one with the types of a model',
      `interface A extends Pick<B, 'planHash'> { readonly changedAt: B['changedAt'] } tx.row<A>\`\`;`,
    ],
    ['one column', 'const a = tx.row<{ readonly planHash: string; readonly count: number }>``;'],
    ['one that pg returns in another type', 'const a = tx.row<{ readonly id: string; readonly target: string }>``;'],
  ])('%s', (_name, source) => {
    expect(found(source)).toEqual([]);
  });
});
