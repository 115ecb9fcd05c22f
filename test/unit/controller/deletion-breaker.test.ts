import { describe, expect, test } from '@jest/globals';
import { blockedDeletion } from '../../../src/controller/kinds/secret-sync/judge/deletion-breaker.ts';
import { keyLoss } from '../../../src/controller/kinds/secret-sync/judge/key-loss.ts';
import { prod, wanted } from './judge-facts.ts';
import type { BlockedDeletion } from '../../../src/controller/kinds/secret-sync/model.ts';

interface Change {
  /** The keys that the Secret has now. */
  readonly present: readonly string[];
  /** The keys that it must have. */
  readonly names: readonly string[];
  readonly environmentKeys: readonly string[];
  /** From which key of the environment a key of the Secret came, where the two differ. */
  readonly renamed: Readonly<Record<string, string>>;
  readonly composed: readonly string[];
}

/** A Secret with these keys whose environment has only those left, all of them chosen. */
function change(present: string, left: string, more: Partial<Change> = {}): Change {
  const environmentKeys = left.split('').filter((key) => present.includes(key));
  return { present: present.split(''), names: left.split(''), environmentKeys, renamed: {}, composed: [], ...more };
}

function blocks(
  { present, names, environmentKeys, renamed, composed }: Change,
  limit: number | string,
): BlockedDeletion | undefined {
  const record = {
    'keyframe.dev/source': 'acme/web/prod@e',
    'keyframe.dev/renamed': JSON.stringify(renamed),
    'keyframe.dev/composed': JSON.stringify(composed),
  };
  const sources = [{ ...prod, keys: environmentKeys }];
  const origins = new Map(names.map((name) => [name, undefined]));
  return blockedDeletion(present, keyLoss(record, { ...wanted, sources, names, origins }).isLost, limit);
}

const allowed: readonly [sentence: string, change: Change, limit: number | string][] = [
  ['half of the keys, by default', change('ABCD', 'AB'), '50%'],
  ['less than half of an odd number', change('ABC', 'AB'), '50%'],
  ['all of two keys: a share counts from three up', change('AB', ''), '50%'],
  ['the only key', change('A', ''), '0%'],
  ['no key, whatever the limit', change('ABC', 'ABCD'), 0],
  ['all keys, where that is the limit', change('ABCD', ''), '100%'],
  ['as many keys as the number says', change('ABCD', 'AB'), 2],
  ['nothing of a Secret without keys', change('', 'A'), 0],
  ['keys that the spec no longer chooses', change('ABCD', 'A', { environmentKeys: 'ABCD'.split('') }), '50%'],
  [
    'keys that the spec names otherwise now',
    change('ABCD', 'wxyz', {
      environmentKeys: '1234'.split(''),
      renamed: { A: '1', B: '2', C: '3', D: '4' },
    }),
    0,
  ],
  ['keys that were composed', change('ABCD', 'A', { composed: 'BCD'.split('') }), 0],
  ['a key that another key of the environment gives now', change('A', 'A', { environmentKeys: '9'.split('') }), 0],
];

const blocked: readonly [sentence: string, change: Change, limit: number | string, keys: string][] = [
  ['all of three keys', change('ABC', ''), '50%', 'ABC'],
  ['two of three keys', change('ABC', 'A'), '50%', 'BC'],
  ['one key of three, where none may go', change('ABC', 'AB'), '0%', 'C'],
  ['one key of one, where the number is 0', change('A', ''), 0, 'A'],
  ['more keys than the number says', change('ABCDEFGH', 'ABCDE'), 2, 'FGH'],
  ['keys of the environment beside composed ones', change('ABCD', 'A', { composed: 'B'.split('') }), 1, 'CD'],
  ['most keys, though others came in their place', change('ABC', 'XYZ'), '50%', 'ABC'],
];

describe('the limit allows', () => {
  test.each(allowed)('%s', (_, given, limit) => expect(blocks(given, limit)).toBeUndefined());
});

describe('the limit blocks', () => {
  test.each(blocked)('%s', (_, given, limit, keys) =>
    expect(blocks(given, limit)).toMatchObject({ keys: keys.split(''), of: given.present.length }),
  );

  test('a renamed key whose own key is lost, though a key of its new name is there', () => {
    const given = change('ABC', '', { renamed: { A: 'gone' }, environmentKeys: 'ABC'.split('') });
    expect(blocks(given, 0)?.keys).toEqual(['A']);
  });
});

describe('the digest', () => {
  const digest = (present: string, left: string): string => blocks(change(present, left), 0)?.digest ?? '';

  test('is of the keys that vanish, in whatever order and whatever stays', () => {
    expect(digest('ABC', 'C')).toMatch(/^[0-9a-f]{32}$/);
    expect(digest('BACD', 'CD')).toBe(digest('ABC', 'C'));
  });

  test('is another for other keys', () => {
    expect(new Set([digest('ABC', 'A'), digest('ABC', 'B'), digest('ABC', ''), digest('ABCD', '')]).size).toBe(4);
    const joined = (keys: string[]): string | undefined => blocks(change('', '', { present: keys }), 0)?.digest;
    expect(joined(['AB', 'C'])).not.toBe(joined(['A', 'BC']));
  });
});
