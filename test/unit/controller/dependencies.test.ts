import { describe, expect, test } from '@jest/globals';
import {
  type ControllerEvent,
  Dependencies,
  type EventFilter,
  Seen,
  objectVersion,
  staleEvents,
  union,
} from '../../../src/controller/frame/dependencies.ts';

function seen(...notes: readonly Parameters<Seen['note']>[]): Seen {
  const all = new Seen();
  for (const note of notes) all.note(...note);
  return all;
}

const commit = (version: string): ControllerEvent => ({ kind: 'environment', id: 'env', version });
const ended: ControllerEvent = { kind: 'environment', id: 'env' };

/** The events that make a result stale. */
function stale({ dependencies }: Seen, ...events: readonly ControllerEvent[]): ControllerEvent[] {
  return staleEvents(dependencies, events);
}

describe('a result', () => {
  test('is stale after another version than the one that was seen, and after an unknown one', () => {
    const result = seen(['environment', 'env', 'r1']);
    expect(stale(result, commit('r2'))).toEqual([commit('r2')]);
    expect(stale(result, commit('r1'))).toEqual([]);
    expect(stale(result, ended)).toEqual([ended]);
  });

  test('is stale after every event about a subject that was noted without a version', () => {
    expect(stale(seen(['service token', 't']), { kind: 'service token', id: 't', version: 'any' })).toHaveLength(1);
  });

  test('does not depend on another subject, nor on one of another kind', () => {
    const result = seen(['environment', 'env', 'r1']);
    expect(stale(result, { kind: 'environment', id: 'other', version: 'r9' })).toEqual([]);
    expect(stale(result, { kind: 'environment history', id: 'env' })).toEqual([]);
  });

  test('is judged by the newest event about each subject: it may have seen what that reports', () => {
    expect(stale(seen(['environment', 'env', 'r3']), commit('r2'), commit('r3'))).toEqual([]);
    expect(stale(seen(['environment', 'env', 'r2']), commit('r2'), commit('r3'))).toEqual([commit('r3')]);
  });

  test('that saw two versions of one subject is stale after each of them', () => {
    const result = seen(['environment', 'env', 'r1'], ['environment', 'env', 'r2']);
    expect(stale(result, commit('r2'))).toHaveLength(1);
    expect(stale(result, commit('r1'))).toHaveLength(1);
  });

  test('depends on the version that `renote` set', () => {
    const result = seen(['environment', 'env', 'r1']);
    result.renote('environment', 'env', 'r2');
    expect(stale(result, commit('r2'))).toEqual([]);
    expect(stale(result, commit('r1'))).toHaveLength(1);
  });

  test('depends on what the last attempt noted, and on what was noted before the first one', () => {
    const result = new Seen();
    result.note('ServiceToken spec', 'ns/ci', 'v1');
    for (const revision of ['r1', 'r2']) {
      result.restart();
      result.note('environment', 'env', revision);
      result.note('Secret', `ns/${revision}`, 'v1');
    }
    expect([...result.dependencies.values()].map(({ id, saw }) => [id, saw])).toEqual([
      ['ns/ci', 'v1'],
      ['env', 'r2'],
      ['ns/r2', 'v1'],
    ]);
  });

  test('depends on nothing after `forget`', () => {
    const result = seen(['environment', 'env', 'r1']);
    result.forget();
    expect(stale(result, commit('r2'))).toEqual([]);
  });

  test('has the expectations of an object take each event once, in order', () => {
    const taken: (string | undefined)[] = [];
    const expectations: EventFilter = { take: ({ version }) => taken.push(version) === 2, reset: () => {} };
    const result = new Seen();
    result.expect('target', 'ns/app', expectations);
    const events = ['1', '2', '3'].map((version) => ({ kind: 'target', id: 'ns/app', version }) as const);
    expect(stale(result, ...events)).toEqual([events[1]]);
    expect(taken).toEqual(['1', '2', '3']);
  });

  test('of two reads depends on what both saw', () => {
    const both = union(
      seen(['environment', 'a', 'r1'], ['environment', 'b', 'r1']).dependencies,
      seen(['environment', 'b', 'r2'], ['environment', 'c', 'r1']).dependencies,
    );
    const isStale = (id: string, version: string): boolean =>
      staleEvents(both, [{ kind: 'environment', id, version }]).length > 0;
    expect(['a', 'c'].map((id) => isStale(id, 'r1'))).toEqual([false, false]);
    expect(['a', 'b', 'c'].map((id) => isStale(id, 'r2'))).toEqual([true, true, true]);
    expect(union(undefined, seen(['slugs', '']).dependencies).size).toBe(1);
  });
});

describe('dependents', () => {
  test('are found by the subject until another result takes the place of theirs', () => {
    const dependencies = new Dependencies();
    const of = (id: string): string[] => [...dependencies.dependents({ kind: 'environment', id }).keys()];
    dependencies.set('ns/a', seen(['environment', 'e1', 'r1'], ['environment', 'e2', 'r1']).dependencies);
    dependencies.set('ns/b', seen(['environment', 'e1', 'r1']).dependencies);
    expect([of('e1'), of('e2'), of('e3')]).toEqual([['ns/a', 'ns/b'], ['ns/a'], []]);
    dependencies.set('ns/a', seen(['environment', 'e3', 'r1']).dependencies);
    expect([of('e1'), of('e2'), of('e3')]).toEqual([['ns/b'], [], ['ns/a']]);
    dependencies.delete('ns/b');
    expect([of('e1'), dependencies.of('ns/b')]).toEqual([[], undefined]);
    dependencies.clear();
    expect([of('e3'), dependencies.of('ns/a')]).toEqual([[], undefined]);
  });
});

test('the version of an object is its uid and resource version, or its absence', () => {
  expect(objectVersion({ name: 'a', uid: 'u', resourceVersion: '7' })).toBe('u/7');
  expect(objectVersion(undefined)).toBe('absent');
});
