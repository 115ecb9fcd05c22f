import { DomainError } from '../domain/errors/domain-error.ts';
import { resourceFault } from './resource-fault.ts';
import { readOnlyFault, readOnlyState } from './session.ts';

/**
 * What a failure of Prisma or pg means. Both report it in several ways: an SQLSTATE, Prisma's own code, a socket's
 * code, or a bare text; an error may also be wrapped in another.
 */
interface Failure {
  /** SQLSTATE, Prisma's `P…` code, the socket's `E…` code, or the kind that Prisma's adapter gives instead of one. */
  readonly codes: ReadonlySet<string>;
  readonly messages: readonly string[];
  /** Whether a connection could not be made, for whatever reason the socket gives. */
  readonly connecting: boolean;
}

// Classes: 08 connection, 53 too few resources, 57P0 shut down or starting, 58 system error; 57014 a statement that was
// cancelled, 25P03 and 25P04 a transaction that was ended for its age; 25006 a standby that has not been promoted;
// 28 and 3D000 a login or database that is not there (yet).
const unavailableState = /^(?:08...|53...|57P0.|57014|58...|25P03|25P04|25006|28...|3D000)$/;
const unavailableCodes = new Set(
  `P1000 P1001 P1002 P1003 P1008 P1010 P1011 P1017 P2037
  ECONNREFUSED ECONNRESET ECONNABORTED ETIMEDOUT EPIPE ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH ENETDOWN EHOSTDOWN
  ERR_STREAM_DESTROYED ERR_STREAM_PREMATURE_CLOSE
  DatabaseNotReachable ConnectionClosed SocketTimeout TlsConnectionError AuthenticationFailed DatabaseAccessDenied
  DatabaseDoesNotExist TooManyConnections`.split(/\s+/),
);
// pg gives these no code.
const unavailableMessages = [
  'timeout expired',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Query read timeout',
  'The server does not support SSL connections',
  'There was an error establishing an SSL connection',
];
const tlsCode = /^(?:ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_CERT|HOSTNAME_MISMATCH)/;
const writeConflicts = ['40001', '40P01'];
const lockTimeouts = ['55P03'];
// No connection of the pool became free in time.
const exhaustedPool = 'timeout exceeded when trying to connect';
const uniqueViolations = ['23505'];
const foreignKeyViolations = ['23503', '23001'];

/**
 * Makes a DomainError of a database failure: store_unavailable when the database cannot be reached or did not answer in
 * time, overloaded for a write conflict or too long a wait for a lock or connection, conflict for a broken unique or
 * foreign key. Anything else, a DomainError among it, is answered as it is. No detail
 * quotes the failure's own text.
 */
export function storeError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const failure = failureOf(error);
  const has = (codes: readonly string[]): boolean => codes.some((code) => failure.codes.has(code));
  if (has(uniqueViolations)) {
    return new DomainError('conflict', 'it exists already, or was made at the same time', { cause: error });
  }
  if (has(foreignKeyViolations)) {
    return new DomainError('conflict', 'something it refers to is gone, or still refers to it', { cause: error });
  }
  if (has(writeConflicts)) {
    return new DomainError('overloaded', 'too many changes at once collided; try again', { cause: error });
  }
  if (has(lockTimeouts)) {
    const detail = 'another change of the same environment, or of what it belongs to, takes long; try again';
    return new DomainError('overloaded', detail, { cause: error });
  }
  if (isUnavailable(failure)) return new DomainError('store_unavailable', whyUnavailable(failure), { cause: error });
  if (failure.messages.includes(exhaustedPool)) {
    return new DomainError(
      'overloaded',
      'no database connection was free in time, or a change took too long and was undone; try again',
      { cause: error },
    );
  }
  return error;
}

/**
 * An error that can be logged with its reason. pg gives some errors no code, only a fixed text: for these, a DomainError
 * with that text as its detail. Any other error is returned as it is.
 */
export function describedError(error: unknown): unknown {
  if (error instanceof DomainError) return error;
  const { codes, messages } = failureOf(error);
  const text = unavailableMessages.find((known) => messages.some((message) => message.startsWith(known)));
  return codes.size > 0 || text === undefined ? error : new DomainError('store_unavailable', text, { cause: error });
}

/** Whether the database rolled a transaction back because of others, so that running it again may succeed. */
export function isWriteConflict(error: unknown): boolean {
  const { codes } = failureOf(error);
  return writeConflicts.some((code) => codes.has(code));
}

// Its result has other types since a migration, or a pooler does not know it.
const stalePlanStates = new Set(['0A000', '26000', '42P05']);

/**
 * Whether a statement that a connection has prepared is of no use there any more, for good. Nothing of it was run: the
 * same text, unprepared, still works.
 */
export function isStalePlan(error: unknown): boolean {
  return stalePlanStates.has(sqlState(error) ?? '');
}

/** The SQLSTATE of an error, also of a wrapped one; undefined when the database did not give one. */
export function sqlState(error: unknown): string | undefined {
  return [...failureOf(error).codes].find((code) => /^[0-9A-Z]{5}$/.test(code) && !/^[PE][0-9A-Z]{4}$/.test(code));
}

function isUnavailable({ codes, messages, connecting }: Failure): boolean {
  if (connecting) return true;
  for (const code of codes) {
    if (unavailableCodes.has(code) || unavailableState.test(code) || tlsCode.test(code)) return true;
  }
  return messages.some((message) => unavailableMessages.some((text) => message.startsWith(text)));
}

function whyUnavailable({ codes }: Failure): string {
  const [lacking] = [...codes].map(resourceFault).filter((found) => found !== undefined);
  const other = lacking?.fault ?? 'the database cannot be reached or did not answer in time';
  return `${codes.has(readOnlyState) ? readOnlyFault : other}; try again`;
}

/** What an error, its causes and what it aggregates say. */
function failureOf(error: unknown): Failure {
  const parts = [...partsOf(error, 0)];
  const texts = (...names: readonly string[]): string[] =>
    parts.flatMap((part) => names.map((name) => part[name]).filter((value) => typeof value === 'string'));
  return {
    codes: new Set(texts('code', 'originalCode', 'kind')),
    messages: texts('message', 'originalMessage'),
    connecting: texts('syscall').includes('connect'),
  };
}

/** An error's objects, itself first, to a bounded depth. */
function* partsOf(value: unknown, depth: number): Generator<Readonly<Record<string, unknown>>> {
  if (typeof value !== 'object' || value === null || depth > 5) return;
  const part = value as Readonly<Record<string, unknown>>;
  yield part;
  const aggregated: unknown[] = Array.isArray(part['errors']) ? part['errors'] : [];
  for (const inner of [part['cause'], part['meta'], part['driverAdapterError'], ...aggregated]) {
    yield* partsOf(inner, depth + 1);
  }
}
