import { beforeEach, describe, expect, test } from '@jest/globals';
import { SyncMemories } from '../../../src/controller/kinds/secret-sync/memory.ts';

let memories: SyncMemories;

beforeEach(() => {
  memories = new SyncMemories();
});

describe('an event of an environment', () => {
  test('concerns those that have it, and nobody else', () => {
    for (const key of ['ns/a', 'ns/b', 'ns/waiting']) memories.of(key);
    memories.setEnvironment('ns/a', 'e1');
    memories.setEnvironment('ns/b', 'e1');
    expect(memories.byEnvironment('e1')).toEqual(['ns/a', 'ns/b']);
  });

  test('concerns those that wait for one, once, where nobody has it', () => {
    memories.of('ns/a');
    expect(memories.byEnvironment('e1')).toEqual(['ns/a']);
    expect(memories.byEnvironment('e1')).toEqual([]);
    expect(memories.byEnvironment('e2')).toEqual(['ns/a']);
  });

  test('concerns one that had it, lost it and waits for it again, though it was once none of theirs', () => {
    memories.of('ns/waiting');
    memories.byEnvironment('e1');
    memories.of('ns/a');
    memories.setEnvironment('ns/a', 'e1');
    memories.markUnresolved('ns/a');
    expect(memories.byEnvironment('e1')).toEqual(['ns/waiting', 'ns/a']);
  });

  test('concerns nobody who waits for something else', () => {
    memories.of('ns/a');
    memories.setEnvironment('ns/a', 'e1');
    memories.markUnconcerned('ns/a');
    expect(memories.byEnvironment('e1')).toEqual([]);
    expect(memories.byEnvironment('e2')).toEqual([]);
  });
});

test('a SecretSync that is gone is found by nothing, and cannot be put back by a reconcile that ends late', () => {
  memories.of('ns/a');
  memories.setTarget('ns/a', 'ns/secret');
  memories.setServiceToken('ns/a', 't');
  memories.setEnvironment('ns/a', 'e');
  memories.drop('ns/a');
  memories.markUnresolved('ns/a');
  memories.setServiceToken('ns/a', 't');
  memories.setEnvironment('ns/a', 'e');
  expect([memories.byTarget('ns/secret'), memories.byServiceToken('t'), memories.byEnvironment('e')]).toEqual([
    [],
    [],
    [],
  ]);
  expect(memories.find('ns/a')).toBeUndefined();
});

test('a value that took the place of another is the only one that leads to the SecretSync', () => {
  memories.of('ns/a');
  memories.setServiceToken('ns/a', 'old');
  memories.setServiceToken('ns/a', 'new');
  expect([memories.byServiceToken('old'), memories.byServiceToken('new')]).toEqual([[], ['ns/a']]);
});

describe('a SecretSync of several sources', () => {
  const keys = ['ns/a#shared', 'ns/a#own'];

  beforeEach(() => {
    memories.of('ns/a');
    memories.keepSources('ns/a', keys);
  });

  test('is found once by what any of them has, and waits until all have an environment', () => {
    for (const key of keys) memories.setServiceToken(key, 't');
    memories.setEnvironment('ns/a#shared', 'e1');
    expect([memories.byServiceToken('t'), memories.byEnvironment('e1')]).toEqual([['ns/a'], ['ns/a']]);
    expect(memories.byEnvironment('e2')).toEqual(['ns/a']);
    memories.setEnvironment('ns/a#own', 'e1');
    expect(memories.byEnvironment('e1')).toEqual(['ns/a']);
    expect(memories.byEnvironment('e3')).toEqual([]);
    expect(memories.sourcesAt('ns/a', 'e1')).toHaveLength(2);
  });

  test('is found no more by a source that it has no more', () => {
    for (const key of keys) memories.setServiceToken(key, key);
    for (const key of keys) memories.setEnvironment(key, key);
    memories.keepSources('ns/a', ['ns/a#own']);
    memories.setEnvironment('ns/a#shared', 'late');
    expect(keys.flatMap((key) => memories.byServiceToken(key))).toEqual(['ns/a']);
    expect([...keys, 'late'].map((id) => memories.byEnvironment(id))).toEqual([[], ['ns/a'], []]);
  });

  test('is concerned by no environment while it waits for something else, and is dropped with all sources', () => {
    for (const key of keys) memories.setEnvironment(key, key);
    memories.markUnconcerned('ns/a');
    expect([...keys, 'another'].map((id) => memories.byEnvironment(id))).toEqual([[], [], []]);
    for (const key of keys) memories.markUnresolved(key);
    memories.drop('ns/a');
    expect(memories.byEnvironment('yet-another')).toEqual([]);
  });

  test('is found by each SecretSnapshot and each ServiceToken that its spec names', () => {
    memories.setSnapshots('ns/a', ['ns/one', 'ns/two']);
    memories.setTokenRefs('ns/a', ['ns/ci', 'ns/ci']);
    expect([memories.bySnapshot('ns/one'), memories.bySnapshot('ns/two')]).toEqual([['ns/a'], ['ns/a']]);
    expect(memories.byTokenRef('ns/ci')).toEqual(['ns/a']);
    memories.setSnapshots('ns/a', ['ns/two']);
    expect([memories.bySnapshot('ns/one'), memories.bySnapshot('ns/two')]).toEqual([[], ['ns/a']]);
  });
});
