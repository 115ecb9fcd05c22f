import { z } from 'zod';
import { DomainError, type FieldError } from '../domain/errors/domain-error.ts';
import { shownName } from './shown-name.ts';

/** A part of a request. Errors about a whole part use its name as the field. */
export type InputPart = 'body' | 'query' | 'path' | 'header';

const maxErrors = 20;

/**
 * Parses a part of a request. Messages never quote values or invalid names of the input: both may be misplaced secrets.
 *
 * @throws DomainError invalid_input with one entry for each invalid field, at most 20.
 */
export function parseInput<Schema extends z.ZodType>(
  part: InputPart,
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const result = schema.safeParse(input, { error: issueMessage });
  if (result.success) return result.data;
  throw invalidInput(part, result.error.issues);
}

/** Encodes a part of a request with the same messages, if its schema is a codec. Throws as `parseInput`. */
export function encodeInput<Schema extends z.ZodType>(
  part: InputPart,
  schema: Schema,
  data: z.output<Schema>,
): z.input<Schema> {
  const result = z.safeEncode(schema, data, { error: issueMessage });
  if (result.success) return result.data;
  throw invalidInput(part, result.error.issues);
}

/** An error in a part of a body that a schema parses with `parsePart`. `path` is relative to that part. */
export interface PartError {
  readonly path: readonly string[];
  readonly message: string;
}

/** Parses such a part with the same messages. Returns at most as many errors as are reported. */
export function parsePart<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): { readonly value: z.output<Schema> } | { readonly errors: readonly PartError[] } {
  const result = schema.safeParse(input, { error: issueMessage });
  if (result.success) return { value: result.data };
  const errors = result.error.issues.flatMap((issue): PartError[] => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
    return issue.keys.slice(0, maxErrors).map((key) => ({ path: [...path, key], message: unknownName('body') }));
  });
  return { errors: errors.slice(0, maxErrors) };
}

/** An `invalid_input` whose detail has the first error and the number of further errors. */
function invalidInput(part: InputPart, issues: readonly z.core.$ZodIssue[]): DomainError {
  // Only those that are shown: a body of 8 MiB can have a million errors.
  const fields = issues.slice(0, maxErrors).flatMap((issue) => fieldErrors(part, issue));
  const [first] = fields;
  if (first === undefined) return new DomainError('invalid_input', 'the request is invalid');
  const others = issues.reduce((count, issue) => count + errorCount(issue), 0) - 1;
  const more = others === 0 ? '' : ` (and ${others} more, see errors)`;
  return new DomainError('invalid_input', `${first.field}: ${first.message}${more}`, {
    fields: fields.slice(0, maxErrors),
  });
}

function errorCount(issue: z.core.$ZodIssue): number {
  return issue.code === 'unrecognized_keys' ? issue.keys.length : 1;
}

function fieldErrors(part: InputPart, issue: z.core.$ZodIssue): FieldError[] {
  const path = issue.path.map((step) => shownName(String(step)));
  if (issue.code === 'unrecognized_keys') {
    const shown = issue.keys.slice(0, maxErrors);
    return shown.map((key) => ({ field: [...path, shownName(key)].join('.'), message: unknownName(part) }));
  }
  return [{ field: path.length === 0 ? part : path.join('.'), message: issue.message }];
}

function unknownName(part: InputPart): string {
  return part === 'query' ? 'is not a query parameter of this request' : 'is not a field of this request';
}

/** Replaces the messages of zod. A message of a schema takes precedence over this one. */
function issueMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'array'
        ? `must hold at most ${issue.maximum} entries`
        : `must be at most ${issue.maximum}`;
    default:
      return 'is not valid';
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  int: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'a JSON object',
};
