import { expect, test } from '@jest/globals';
import { endsConnection } from '../../../src/store/useless-connections.ts';

test.each([
  ['a server that takes no writes', '25006'],
  ['a connection that failed', '08006'],
  ['a protocol violation, as poolers report a lost server', '08P01'],
  ['an administrator’s shutdown', '57P01'],
  ['a server that starts', '57P03'],
  ['a transaction that was idle too long', '25P03'],
  ['a transaction that was open too long', '25P04'],
  ['too many connections', '53300'],
  ['a statement that was prepared for other types', '0A000'],
  ['a statement that the pooler does not know', '26000'],
])('%s ends its connection (%s)', (_name, code) => {
  expect(endsConnection({ code })).toBe(true);
});

test.each([
  ['a cancelled statement', '57014'],
  ['a duplicate', '23505'],
  ['a deadlock', '40P01'],
  ['a lock that took too long', '55P03'],
  ['a transaction that has failed before', '25P02'],
  ['a full disk', '53100'],
  ['an error without a code', undefined],
])('%s leaves its connection in use (%s)', (_name, code) => {
  expect(endsConnection({ code })).toBe(false);
});
