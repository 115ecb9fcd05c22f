import type { z } from 'zod';
import {
  booleanText,
  clusterName,
  comment,
  email,
  expectedVersion,
  integerText,
  name,
  planHash,
  revisionRef,
  revisionText,
  secretKey,
  secretKeyPrefix,
  secretValue,
  slug,
  timestamp,
  userRef,
  uuid,
  versionNumber,
} from '../../../src/wire/fields.ts';
import { roleBindingParams } from '../../../src/wire/role-bindings.ts';
import { versionParams } from '../../../src/wire/versions.ts';
import { type Accepted, accepted } from '../../support/api/naughty-strings.ts';

/** What each kind of field takes, and what is said of the rest (docs/interface.md section 2). */

const kib = 1024;
const slugRule = 'must be 1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit';
const clusterRule = 'must be 1 to 128 letters, digits, dots, hyphens and underscores, ending with a letter or digit';
const keyRule = 'must be 1 to 253 letters, digits, dots, underscores and hyphens';
const dotRule = 'must not be "." or "__proto__", nor begin with ".."';
const line = 'must not contain control characters';
const surrogate = 'must be valid Unicode (it contains a lone surrogate)';
const emailRule =
  'must be an e-mail address of at most 254 printable ASCII characters, such as ada@example.com, and not begin with group:';
const userRule = "must be a user's UUID or e-mail address";
const timeRule = 'must be an ISO 8601 time with a UTC offset, such as 2027-01-31T12:00:00Z';
const revisionRule = 'must be the number of a revision (0 to 2147483647) or its id';
const limitRule = 'must be an integer from 1 to 1000';
const id = '0d9f1a30-0000-4000-8000-00000000000a';

export interface Kind {
  readonly schema: z.ZodType;
  /** What it takes, and what becomes of it. */
  readonly takes: readonly (readonly [unknown, unknown])[];
  /** What it refuses, and what is said of it. */
  readonly refuses: readonly (readonly [unknown, string])[];
  /** What it takes of the naughty strings and of 1 MB. */
  readonly naughty: Accepted;
}

const none: Accepted = { only: [] };
const same = (...texts: readonly unknown[]): readonly (readonly [unknown, unknown])[] =>
  texts.map((text) => [text, text]);
const each = (texts: readonly unknown[], message: string): readonly (readonly [unknown, string])[] =>
  texts.map((text) => [text, message]);

export const kinds = {
  slug: {
    schema: slug,
    takes: same('a', '0', 'a-b', 'x'.repeat(63)),
    refuses: each(['', 'A', '-a', 'a-', 'a_b', 'a.b', 'ä', 'a b', 'a\n', 'x'.repeat(64)], slugRule),
    naughty: accepted.slugs,
  },
  name: {
    schema: name,
    takes: same('ci', ' a ', 'é😀', '\u{1f511}'.repeat(200)),
    refuses: [
      ...each(['', ' ', '\t\n', '\u00a0\u3000'], 'must not be empty'),
      ['x'.repeat(201), 'must be at most 200 characters'],
      ...each(['a\nb', 'a\0', 'a\u009b'], line),
      ['a\ud800', surrogate],
    ],
    naughty: accepted.names,
  },
  comment: {
    schema: comment,
    takes: same('', ' ', 'é', '\u{1f511}'.repeat(1000)),
    refuses: [
      ['x'.repeat(1001), 'must be at most 1000 characters'],
      ...each(['a\nb', '\0'], line),
      ['\udc00', surrogate],
    ],
    naughty: accepted.comments,
  },
  'name of a cluster': {
    schema: clusterName,
    takes: same('a', '0', 'Prod_eu.1-a', 'x'.repeat(128)),
    refuses: each(['', '-a', 'a-', '.', 'a b', 'a/b', 'é', 'a\n', 'x'.repeat(129)], clusterRule),
    naughty: accepted.clusterNames,
  },
  'secret key': {
    schema: secretKey,
    takes: same('A', '1', '-', '_.', 'a..b', '.a', 'constructor', 'K'.repeat(253)),
    refuses: [
      ...each(['', 'a b', 'a/b', 'é', 'a\n', 'K'.repeat(254)], keyRule),
      ...each(['.', '..', '..a', '__proto__'], dotRule),
    ],
    naughty: accepted.keys,
  },
  'prefix of keys': {
    schema: secretKeyPrefix,
    takes: same('A', '.', '..', '__proto__', 'K'.repeat(253)),
    refuses: each(['', 'a b', 'é', 'K'.repeat(254)], keyRule),
    naughty: accepted.prefixes,
  },
  'secret value': {
    schema: secretValue,
    takes: same('', '\0\u001f\u007f', 'é'.repeat(128 * kib), ' \n'),
    refuses: [
      ...each(['\ud800', 'a\udc00'], `${surrogate}; encode binary data as base64`),
      ...each(['x'.repeat(256 * kib + 1), 'é'.repeat(128 * kib) + 'x'], 'must be at most 262144 bytes of UTF-8'),
    ],
    naughty: accepted.values,
  },
  id: {
    schema: uuid,
    takes: [
      [id, id],
      [id.toUpperCase(), id],
    ],
    refuses: each(['', 'x', id.slice(1), `${id} `, id.replaceAll('-', ''), `{${id}}`], 'must be a UUID'),
    naughty: none,
  },
  'e-mail address': {
    schema: email,
    takes: [['Ada+x@Example.test', 'ada+x@example.test'], ...same('a@b', 'groups:a@b', 'group@b')],
    refuses: each(
      ['', 'ada', '@b', 'a@', 'a b@c', 'a@b@c', 'é@b', 'group:ops@b', 'Group:ops@b', `${'x'.repeat(65)}@b`],
      emailRule,
    ),
    naughty: none,
  },
  user: {
    schema: userRef,
    takes: [
      [id.toUpperCase(), { id }],
      ['Ada@b', { email: 'ada@b' }],
    ],
    refuses: each(['', 'ada', `${id}x`, 'group:ops@b'], userRule),
    naughty: none,
  },
  'subject of a role': {
    schema: roleBindingParams.shape.subject,
    takes: [
      [id, { id }],
      ['group:ops@b', { group: 'ops@b' }],
      ['group:Tëam 1', { group: 'Tëam 1' }],
    ],
    refuses: [
      ...each(['', 'ada', 'Group:ops'], `${userRule}, or group:NAME`),
      ['group:', 'group: must not be empty'],
      ['group:a\nb', `group: ${line}`],
    ],
    naughty: none,
  },
  'hash of a plan': {
    schema: planHash,
    takes: same('x'.repeat(43), `${'-_'.repeat(21)}A`),
    refuses: each(['', 'x', 'x'.repeat(42), 'x'.repeat(44), `${'x'.repeat(42)}=`], 'must be the planHash of a dry run'),
    naughty: none,
  },
  time: {
    schema: timestamp,
    takes: [
      ['2027-01-31T12:00:00Z', new Date('2027-01-31T12:00:00Z')],
      ['2027-01-31T13:00:00+01:00', new Date('2027-01-31T12:00:00Z')],
    ],
    refuses: each(['', '2027-01-31', '2027-01-31T12:00:00', '2027-02-30T12:00:00Z', '1798718400'], timeRule),
    naughty: none,
  },
  'limit of a page': {
    schema: integerText(1, 1000),
    takes: [
      ['1', 1],
      ['1000', 1000],
      ['010', 10],
    ],
    refuses: each(['0', '1001', '-1', '1.5', '1e3', ' 1', '', '0x10', '99999999999', '١'], limitRule),
    naughty: none,
  },
  'version in a path': {
    schema: versionParams.shape.version,
    takes: [
      ['1', 1],
      ['2147483647', 2_147_483_647],
    ],
    refuses: each(['', '0', 'x', '1.0', '-1', '2147483648'], 'must be an integer from 1 to 2147483647'),
    naughty: none,
  },
  'yes or no in a query': {
    schema: booleanText,
    takes: [
      ['true', true],
      ['false', false],
    ],
    refuses: each(['', 'maybe', 'TRUE', '1', '0', 'yes', 'true,false', ' true'], 'must be one of true, false'),
    naughty: { only: ['true'] },
  },
  'revision in a query': {
    schema: revisionText,
    takes: [
      ['0', 0],
      ['2147483647', 2_147_483_647],
      [id.toUpperCase(), id],
    ],
    refuses: each(['', 'newest', '-1', '1.5', '2147483648', '1x', id.slice(1)], revisionRule),
    naughty: { only: ['zero'] },
  },
  'revision in a body': {
    schema: revisionRef,
    takes: [...same(0, 2_147_483_647), [id.toUpperCase(), id]],
    refuses: [
      [-1, 'must be at least 0'],
      [2_147_483_648, 'must be at most 2147483647'],
      ...each([1.5, '1', 'x', null, true], revisionRule),
    ],
    naughty: none,
  },
  version: {
    schema: versionNumber,
    takes: same(1, 2_147_483_647),
    refuses: [
      [0, 'must be at least 1'],
      [2_147_483_648, 'must be at most 2147483647'],
      [1.5, 'must be an integer'],
      ...each(['1', null, true], 'must be a number'),
    ],
    naughty: none,
  },
  'expected version': {
    schema: expectedVersion,
    takes: same(0, 2_147_483_647),
    refuses: [
      [-1, 'must be at least 0'],
      [2_147_483_648, 'must be at most 2147483647'],
    ],
    naughty: none,
  },
} as const satisfies Readonly<Record<string, Kind>>;
