import { describe, expect, test } from '@jest/globals';
import { storeSources, writtenSql } from '../../support/database/store-statements.ts';

// A statement is a template of `sql`, unless a parameter is used in several places or an array must be prepared.
const maxConstants = 40;

const constantsOf = (sources: ReadonlyMap<string, string>): number =>
  writtenSql(sources).filter(({ isConstant }) => isConstant).length;

test('the store has few statements that are constants', () => {
  expect(writtenSql(storeSources()).length).toBeGreaterThan(300);
  expect(constantsOf(storeSources())).toBeLessThanOrEqual(maxConstants);
});

describe('a planted constant is counted:', () => {
  test.each([
    ['a text', `const a: Statement = { name: 'a', text: 'SELECT 1' };`],
    ['a template', 'const a = { name: `a`, text: `SELECT ${columns} FROM a` } as const satisfies Statement;'],
    ['one that a function makes', 'function a(name: string) { return { name, text: `SELECT ${name}` }; }'],
  ])('%s', (_name, source) => {
    expect(constantsOf(new Map([['a.ts', source]]))).toBe(1);
  });
});

test('a template is no constant', () => {
  expect(constantsOf(new Map([['a.ts', 'const a = sql`SELECT ${1}`; tx.run`SELECT 1`;']]))).toBe(0);
});
