import { expect, test } from '@jest/globals';
import { statusPatch } from '../../../src/controller/frame/status-lane.ts';

const status = { a: 1, last: { name: 'x', id: '1', more: { deep: true, gone: 1 } }, list: [{ a: 1, b: 2 }] };

test('a status that stays needs no patch', () => {
  expect(statusPatch(status, { ...status, list: [{ a: 1, b: 2 }] })).toBeUndefined();
});

test.each<[string, object, object]>([
  ['a field', { ...status, a: 2 }, { a: 2 }],
  ['a field that goes', { last: status.last, list: status.list }, { a: null }],
  [
    'a field in an object that goes',
    { ...status, last: { name: 'y', more: status.last.more } },
    { last: { name: 'y', id: null, more: status.last.more } },
  ],
  [
    'one further in',
    { ...status, last: { ...status.last, more: { deep: false } } },
    { last: { ...status.last, more: { deep: false, gone: null } } },
  ],
  ['a list, which is replaced', { ...status, list: [{ a: 1 }] }, { list: [{ a: 1 }] }],
  ['an object that comes', { ...status, next: { b: 1 } }, { next: { b: 1 } }],
])('the patch for %s makes one status into the other', (_, next, expected) => {
  const patch = statusPatch(status, next);
  expect(patch).toEqual(expected);
  expect(applied(status, patch)).toEqual(next);
});

/** What an API server makes of it (RFC 7396, section 2). */
function applied(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const before: Record<string, unknown> = isObject ? { ...target } : {};
  const changed = Object.entries(patch).map(([key, value]): [string, unknown] => [key, applied(before[key], value)]);
  return Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(changed) }).filter(([, v]) => v !== null),
  );
}
