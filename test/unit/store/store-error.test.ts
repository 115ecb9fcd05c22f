import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { describedError, isWriteConflict, sqlState, storeError } from '../../../src/store/store-error.ts';

function errorWith(fields: object, message = 'canary-value'): Error {
  return Object.assign(new Error(message), fields);
}

const unavailable: [string, unknown][] = [
  ['a refused connection', errorWith({ code: 'ECONNREFUSED', syscall: 'connect' })],
  [
    'refusals on every address',
    new AggregateError([errorWith({ code: 'ECONNREFUSED' }), errorWith({ code: 'ECONNREFUSED' })]),
  ],
  ['a Unix socket that is not there', errorWith({ code: 'ENOENT', syscall: 'connect' })],
  ['a reset', errorWith({ code: 'ECONNRESET', syscall: 'read' })],
  ['a broken pipe', errorWith({ code: 'EPIPE', syscall: 'write' })],
  ['an unknown host', errorWith({ code: 'ENOTFOUND', syscall: 'getaddrinfo' })],
  ['a name server that is away', errorWith({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' })],
  ['pg’s end of a connection', new Error('Connection terminated unexpectedly')],
  ['pg’s connection timeout without a pool', new Error('timeout expired')],
  ['pg’s connection timeout', new Error('Connection terminated due to connection timeout')],
  ['pg’s broken client', new Error('Client has encountered a connection error and is not queryable')],
  ['pg’s closed pool', new Error('Cannot use a pool after calling end on the pool')],
  ['an administrator’s shutdown', errorWith({ code: '57P01' })],
  ['a server that starts', errorWith({ code: '57P03' })],
  ['a cancelled statement', errorWith({ code: '57014' })],
  ['a transaction that was idle too long', errorWith({ code: '25P03' })],
  ['a transaction that was open too long', errorWith({ code: '25P04' })],
  ['too many connections', errorWith({ code: '53300' })],
  ['a full disk', errorWith({ code: '53100' })],
  ['a standby that takes no writes', errorWith({ code: '25006' })],
  ['a wrong password', errorWith({ code: '28P01' })],
  ['a missing database', errorWith({ code: '3D000' })],
  ['a connection failure', errorWith({ code: '08006' })],
  ['a certificate that does not fit', errorWith({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' })],
  ['a self-signed certificate', errorWith({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })],
  ['Prisma without a server', errorWith({ code: 'P1001' })],
  ['Prisma’s adapter at a COMMIT', errorWith({ cause: { kind: 'ConnectionClosed' } })],
  [
    'a raw statement of Prisma whose backend was ended',
    errorWith({
      code: 'P2010',
      meta: { driverAdapterError: errorWith({ cause: { originalCode: '57P01', kind: 'postgres' } }) },
    }),
  ],
];

test.each(unavailable)('%s is store_unavailable, in a sentence that quotes nothing', (_name, error) => {
  const made = storeError(error);
  expect(made).toMatchObject({ code: 'store_unavailable', cause: error });
  expect((made as DomainError).message).not.toContain('canary');
});

test('a resource that PostgreSQL lacks is named', () => {
  const details = ['53100', '53200', '53300', '53400', '08006'].map((code) => storeError(errorWith({ code })));
  expect(details.map((made) => (made as DomainError).detail)).toEqual([
    'PostgreSQL has no space left on its disk; try again',
    'PostgreSQL has no memory left; try again',
    'PostgreSQL takes no more connections; try again',
    'PostgreSQL has reached a limit of its settings; try again',
    'the database cannot be reached or did not answer in time; try again',
  ]);
});

const overloaded: [string, unknown][] = [
  ['a lock that took too long', errorWith({ code: '55P03' })],
  [
    'such a lock in a raw statement of Prisma',
    errorWith({ code: 'P2010', meta: { driverAdapterError: errorWith({ cause: { originalCode: '55P03' } }) } }),
  ],
  ['pg’s exhausted pool', new Error('timeout exceeded when trying to connect')],
];

test.each(overloaded)('%s is overloaded, in a sentence that quotes nothing', (_name, error) => {
  const made = storeError(error);
  expect(made).toMatchObject({ code: 'overloaded', cause: error });
  expect((made as DomainError).message).not.toMatch(/canary|cannot be reached/);
});

const unchanged: [string, unknown][] = [
  ['a DomainError', new DomainError('forbidden', 'no')],
  ['a programming error', new TypeError('x is not a function')],
  ['a file that is not there', errorWith({ code: 'ENOENT', syscall: 'open' })],
  ['a table that is not there', errorWith({ code: '42P01' })],
  ['text that is no UUID', errorWith({ code: '22P02' })],
  ['a CHECK constraint', errorWith({ code: '23514' })],
  ['a text', 'Connection terminated'],
  ['nothing', undefined],
];

test.each(unchanged)('%s is left as it is', (_name, error) => {
  expect(storeError(error)).toBe(error);
});

describe('broken constraints', () => {
  test('are a conflict', () => {
    const made = storeError(errorWith({ code: '23505', constraint: 'organization_slug_key' }));
    expect(made).toMatchObject({ code: 'conflict' });
    expect((made as DomainError).message).not.toContain('canary');
  });

  test('of another kind are a conflict too', () => {
    const foreignKey = errorWith({ code: '23503', constraint: 'project_organization_id_fkey' });
    expect(storeError(foreignKey)).toMatchObject({ code: 'conflict' });
  });
});

test('write conflicts are known, and overloaded in the end', () => {
  for (const fields of [{ code: '40P01' }, { code: '40001' }]) {
    expect(isWriteConflict(errorWith(fields))).toBe(true);
    expect(storeError(errorWith(fields))).toMatchObject({ code: 'overloaded' });
  }
  expect(isWriteConflict(errorWith({ code: '23505' }))).toBe(false);
});

test('the SQLSTATE is found under the wrappings, and is never mistaken for a code of Prisma or a socket', () => {
  expect(
    sqlState(errorWith({ code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '22P05' } } } })),
  ).toBe('22P05');
  expect(sqlState(errorWith({ code: 'P2002' }))).toBeUndefined();
  expect(sqlState(errorWith({ code: 'EPIPE' }))).toBeUndefined();
  expect(sqlState(undefined)).toBeUndefined();
});

test('an error that is its own cause ends', () => {
  const loop: { cause?: unknown } & Error = new Error('x');
  loop.cause = loop;
  expect(storeError(loop)).toBe(loop);
});

test('what pg reports without a code keeps its reason for the log, and nothing that follows it', () => {
  const cut = new Error('Connection terminated unexpectedly: canary-value');
  expect(describedError(cut)).toMatchObject({ detail: 'Connection terminated', cause: cut });
  const late = new Error('timeout expired');
  expect(describedError(late)).toMatchObject({ code: 'store_unavailable', detail: 'timeout expired', cause: late });
  for (const error of [errorWith({ code: '57P01' }), errorWith({}), new DomainError('conflict', 'x'), 'text'])
    expect(describedError(error)).toBe(error);
});
