import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { shortDigest, shortList, shorten } from '../../../src/controller/names.ts';
import { isDnsName } from '../../../src/domain/kubernetes-names.ts';

describe('a DNS name', () => {
  test.each(['a', 'app', 'a-b', 'a.b', 'a-1.b-2', '0', 'a'.repeat(253)])('may be %s', (name) => {
    expect(isDnsName(name)).toBe(true);
  });

  test.each(['', '-a', 'a-', '.a', 'a.', 'a..b', 'a.-b', 'A', 'a_b', 'a/b', 'a b', 'ä', 'a\n', 'a'.repeat(254)])(
    'may not be %j',
    (name) => {
      expect(isDnsName(name)).toBe(false);
    },
  );
});

describe('a shortened name', () => {
  const form = { maxLength: 10, headLength: 4, separator: '-', digestLength: 6 };

  test('is the name itself if that is short enough', () => {
    expect(shorten('0123456789', form)).toBe('0123456789');
  });

  test('is its beginning and its digest if it is too long', () => {
    expect(shorten('0123456789a', form)).toBe('0123-73ceda');
  });

  test('differs from that of another name with the same beginning', () => {
    expect(shorten('0123456789b', form)).not.toBe(shorten('0123456789a', form));
  });
});

test('a short digest has 32 hexadecimal digits', () => {
  expect(shortDigest('text')).toBe('982d9e3eb996f559e633f4d194def376');
});

describe('a short list', () => {
  test('holds all names if there is room', () => {
    expect(shortList(['A', 'B'])).toBe('A, B');
  });

  test('counts the names that it leaves out', () => {
    const names = Array.from({ length: 100 }, (_, index) => `KEY_${100 + index}`);
    expect(shortList(names)).toMatch(/^KEY_100, .*KEY_121 and 78 more$/);
  });

  test('names none if the first one is too long', () => {
    expect(shortList(['K'.repeat(300)])).toBe('their names are long');
  });
});

test('every key of an annotation, a label or a finalizer stands in annotations.ts', () => {
  const folder = join(checkoutDirectory, 'src');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !/(?:^|\/)generated\//.test(path),
  );
  const comment = /^\s*(?:\/\/|\/?\*).*$/gm;
  const holders = files.filter((path) =>
    /keyframe\.dev\/(?!v1alpha1)/.test(readFileSync(join(folder, path), 'utf8').replaceAll(comment, '')),
  );
  // The context of a digest is no key.
  expect(holders.toSorted()).toEqual(['controller/annotations.ts', 'controller/kinds/snapshot-schedule/child.ts']);
});
