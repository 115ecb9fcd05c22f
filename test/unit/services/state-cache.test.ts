import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import type { SecretList } from '../../../src/services/secrets/secret-list.ts';
import { keepingBytes, StateCache } from '../../../src/services/secrets/state-cache.ts';

function listOf(values: readonly string[], environmentId: string = randomUUID()): SecretList {
  const secrets = values.map((value, index) => ({
    key: `KEY_${index}`,
    value: new Plaintext(value),
    version: index + 1,
    updatedAt: new Date(1_700_000_000_000 + index),
  }));
  return { environmentId, revision: 7, revisionId: randomUUID(), secrets };
}

const shown = (list: SecretList | undefined) =>
  list && { ...list, secrets: list.secrets.map((secret) => ({ ...secret, value: secret.value.reveal() })) };
const cacheOf = (maxBytes = 1_000_000): StateCache => new StateCache({ maxBytes });

describe('a state that is kept', () => {
  test('comes back byte for byte, whatever Unicode its values are', async () => {
    const list = listOf(['', 'plain', '\u0000\n"\\', 'schlüssel 🔑', '\ufeffmark', '__proto__']);
    const cache = cacheOf();
    await cache.keep(list);
    expect(shown(await cache.find(list.environmentId, list.revisionId))).toEqual(shown(list));
  });

  test('is of one revision of one environment and of no other', async () => {
    const [one, two] = [listOf(['1']), listOf(['2'])];
    const cache = cacheOf();
    for (const list of [one, two]) await cache.keep(list);
    expect(await cache.find(one.environmentId, two.revisionId)).toBeUndefined();
    expect(await cache.find(one.environmentId, randomUUID())).toBeUndefined();
    expect(await cache.find(randomUUID(), one.revisionId)).toBeUndefined();
    expect(shown(await cache.find(two.environmentId, two.revisionId))?.secrets[0]?.value).toBe('2');
  });

  test('gives way to another revision of its environment', async () => {
    const old = listOf(['old']);
    const next = listOf(['new'], old.environmentId);
    const cache = cacheOf();
    await cache.keep(old);
    const { bytes } = cache;
    await cache.keep(next);
    expect(await cache.find(old.environmentId, old.revisionId)).toBeUndefined();
    expect(shown(await cache.find(next.environmentId, next.revisionId))).toEqual(shown(next));
    expect(cache.bytes).toBe(bytes);
  });

  test('goes when others need the room, the longest unread first', async () => {
    const lists = ['a', 'b', 'c'].map((letter) => listOf([letter.repeat(1000)]));
    const maxBytes = 2_500 + 2 * keepingBytes;
    const cache = cacheOf(maxBytes);
    const [a, b, c] = lists as [SecretList, SecretList, SecretList];
    await cache.keep(a);
    await cache.keep(b);
    expect(await cache.find(a.environmentId, a.revisionId)).toBeDefined();
    await cache.keep(c);
    const isKept = ({ environmentId, revisionId }: SecretList): boolean =>
      cache.bytesOf(environmentId, revisionId) !== undefined;
    expect([a, b, c].map(isKept)).toEqual([true, false, true]);
    expect(cache.bytes).toBeLessThanOrEqual(maxBytes);
  });

  test('is not one of an environment that is dropped before or while it is sealed', async () => {
    const list = listOf(['destroyed']);
    const cache = cacheOf();
    await cache.keep(list);
    cache.drop(list.environmentId);
    expect([cache.bytes, await cache.find(list.environmentId, list.revisionId)]).toEqual([0, undefined]);
    const keeping = cache.keep(list);
    cache.drop(list.environmentId);
    await keeping;
    expect([cache.bytes, await cache.find(list.environmentId, list.revisionId)]).toEqual([0, undefined]);
  });

  test('is not one that is too large', async () => {
    const cache = cacheOf(2_000);
    await cache.keep(listOf(['x'.repeat(2_000)]));
    expect(cache.bytes).toBe(0);
  });

  test('may have few secrets or none, and counts with more than its bytes: many of them fill the room', async () => {
    const lists = Array.from({ length: 20 }, () => listOf([]));
    const cache = cacheOf(10 * keepingBytes);
    for (const list of lists) await cache.keep(list);
    const kept = lists.filter(
      ({ environmentId, revisionId }) => cache.bytesOf(environmentId, revisionId) !== undefined,
    );
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.length).toBeLessThanOrEqual(10);
    expect(shown(await cache.find(kept[0]?.environmentId ?? '', kept[0]?.revisionId ?? ''))).toEqual(shown(kept[0]));
  });
});
