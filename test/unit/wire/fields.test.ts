import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { email, keySelection } from '../../../src/wire/fields.ts';
import { parseInput } from '../../../src/wire/parse-input.ts';
import { accepted, isRepeated, megabyte, naughtyStrings } from '../../support/api/naughty-strings.ts';
import { type Kind, kinds } from './field-kinds.ts';

/** That each route has fields of the right kinds is in test/unit/http/route-input.test.ts. */

const texts = new Map([...naughtyStrings, ['1 MB', megabyte] as const]);

/** What a schema makes of an input, or the error that refuses it. */
function parse(schema: z.ZodType, input: unknown): unknown {
  try {
    const parsed: unknown = parseInput('body', schema, input);
    return parsed instanceof Plaintext ? parsed.reveal() : parsed;
  } catch (error) {
    return error;
  }
}

function shown({ detail, fields }: DomainError): string {
  return JSON.stringify([detail, fields]);
}

function messagesOf(schema: z.ZodType, input: unknown): string[] {
  const error = parse(schema, input);
  return error instanceof DomainError ? error.fields.map(({ message }) => message) : [];
}

describe.each(Object.entries<Kind>(kinds))('a field: %s', (_kind, { schema, takes, refuses, naughty }) => {
  test('takes what it may be', () => {
    for (const [input, output] of takes) expect(parse(schema, input)).toEqual(output);
  });

  test('refuses all else with what it must be', () => {
    for (const [input, message] of refuses) expect([input, messagesOf(schema, input)]).toEqual([input, [message]]);
  });

  test('takes a naughty string as it is, or repeats nothing of it', () => {
    const all = [...texts].map(([what, text]) => ({ what, text, parsed: parse(schema, text) }));
    const refused = all.filter(({ parsed }) => parsed instanceof DomainError);
    expect(refused.filter(({ text, parsed }) => isRepeated(shown(parsed as DomainError), text))).toEqual([]);
    const taken = all.filter((one) => !refused.includes(one));
    expect(taken.filter(({ text, parsed }) => typeof parsed === 'string' && parsed !== text)).toEqual([]);
    const expected =
      'only' in naughty ? naughty.only : [...texts.keys()].filter((what) => !naughty.allBut.includes(what));
    expect(taken.map(({ what }) => what).toSorted()).toEqual([...expected].toSorted());
  });
});

test('the name in an e-mail address takes what is visible, of ASCII and short', () => {
  const taken = [...texts].filter(([, text]) => !(parse(email, `${text}@example.test`) instanceof DomainError));
  expect(taken.map(([what]) => what).toSorted()).toEqual([...accepted.localParts.only].toSorted());
  for (const [, text] of taken) expect(parse(email, `${text}@example.test`)).toBe(`${text}@example.test`.toLowerCase());
});

describe('a selection of keys', () => {
  test.each<[string, unknown, [string, RegExp]]>([
    ['that is no object', 'A*', ['body', /^must be a JSON object$/]],
    ['of one glob', { include: 'A' }, ['include', /^must be an array$/]],
    ['of a number', { include: [1] }, ['include.0', /^must be a string$/]],
    ['with a blank in it', { include: ['A', 'A B'] }, ['include.1', /^must be a glob of keys: 1 to 253 letters/]],
    [
      'of too many globs with wildcards',
      { exclude: Array.from({ length: 17 }, (_, at) => `A${at}*`) },
      ['exclude', /16/],
    ],
    ['of too many globs', { include: Array.from({ length: 257 }, (_, at) => `A${at}`) }, ['include', /256/]],
    ['with another field', { only: ['A'] }, ['only', /^is not a field of this request$/]],
  ])('%s is refused', (_case, input, [field, message]) => {
    const error = parse(keySelection, input);
    expect(error instanceof DomainError && error.fields).toEqual([{ field, message: expect.stringMatching(message) }]);
  });

  test('takes globs, and an empty list that selects nothing', () => {
    const selection = { include: ['A*', '?', 'K'.repeat(253)], exclude: [] };
    expect(parse(keySelection, selection)).toEqual(selection);
  });
});
