import { invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { checkWhole, isUuid } from './checks.ts';

/** Which part of a list is wanted; without a limit all of it, from the cursor on. */
export interface PageRequest {
  /** 1 to `limits.pageSize`. */
  readonly limit?: number;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** Throws DomainError invalid_input for an invalid limit. */
export function checkLimit({ limit }: PageRequest): number | null {
  if (limit === undefined) return null;
  checkWhole('limit', limit, { min: 1, max: limits.pageSize });
  return limit;
}

/** An opaque cursor: the name of its list, and where its next page begins. */
export function encodeCursor(list: string, position: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString('base64url');
}

/**
 * Reads a cursor of `encodeCursor`. Throws DomainError invalid_input for a cursor of another list and for other text.
 */
export function decodeCursor(list: string, cursor: string, length: number): string[] {
  const [head, ...position] = parse(cursor);
  if (head !== list || position.length !== length) throw badCursor();
  return position;
}

/** Where a page begins in a list by time and id. */
export interface TimePosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** The cursor of the page after an entry of a list by time and id. */
export function encodeTimeCursor(list: string, { createdAt, id }: TimePosition): string {
  return encodeCursor(list, [createdAt.toISOString(), id]);
}

/** Reads a cursor of `encodeTimeCursor`. Throws DomainError invalid_input as `decodeCursor` does. */
export function decodeTimeCursor(list: string, cursor: string): TimePosition {
  const [time = '', id = ''] = decodeCursor(list, cursor, 2);
  const createdAt = new Date(time);
  // JavaScript writes years of other lengths too, which the database does not read.
  if (!/^[0-9]{4}-/.test(time)) throw badCursor();
  if (Number.isNaN(createdAt.getTime()) || createdAt.toISOString() !== time || !isUuid(id)) throw badCursor();
  return { createdAt, id };
}

export function badCursor(): Error {
  return invalidField('cursor', 'is not a cursor of this list; begin again without it');
}

function parse(cursor: string): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parts) && parts.every((part) => typeof part === 'string')) return parts;
  } catch {
    // Not JSON, so not a cursor.
  }
  throw badCursor();
}
