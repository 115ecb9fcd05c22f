import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { growthOf, isChange, type KeyVersion, type PresentKey } from '../../../src/domain/plans/plan.ts';
import { planRevert, type RevertFact, type RevertPlan, revertParts } from '../../../src/domain/plans/revert.ts';
import { digestOf } from '../../../src/services/kernel/plan-hash.ts';
import { destroyedVersion, id, presentKey, versionOf } from './plan-builders.ts';

const reverted = { revision: 4, revisionId: id(4) };
const place = { revision: 7, revisionId: id(7), reverted };

function planOf(...keys: RevertFact[]): RevertPlan {
  return planRevert({ ...place, keys });
}

/** `before/after/now`: a letter for a value, `-` for none, `!` for a destroyed value. */
function factOf(states: string): RevertFact {
  const [before = '-', after = '-', now = '-'] = states.split('/');
  const at = (value: string, version: number): KeyVersion | null => {
    if (value === '-') return null;
    return value === '!' ? destroyedVersion(version) : versionOf(version, value);
  };
  return { ...presentKey('KEY', null), live: at(now, 3), before: at(before, 1), after: at(after, 2) };
}

describe('the revert of a change of a key', () => {
  test.each([
    ['an update', 'a/b/b', 'restore', null],
    ['a creation', '-/b/b', 'delete', null],
    ['a deletion', 'a/-/-', 'recreate', null],
    ['a change into the same value', 'a/a/a', 'leave', null],
    ['a key that is as before already', 'a/b/a', 'leave', null],
    ['a created key that was deleted already', '-/b/-', 'leave', null],
    ['a key that was changed again', 'a/b/c', 'restore', 'changed'],
    ['a key that was deleted since', 'a/b/-', 'recreate', 'changed'],
    ['a created key that was changed again', '-/b/c', 'delete', 'changed'],
    ['a deleted key that was created again', 'a/-/c', 'restore', 'changed'],
    ['a deleted key that was created again as before', 'a/-/a', 'leave', null],
    ['a destroyed value before', '!/b/b', 'destroyed', 'destroyed'],
    ['a destroyed value before, of a key that was changed again', '!/b/c', 'destroyed', 'destroyed'],
    ['a destroyed value before, of a key that was deleted since', '!/-/-', 'destroyed', 'destroyed'],
    ['a destroyed value after', 'a/!/c', 'restore', 'destroyed'],
    ['a destroyed value after, of a key that was deleted since', 'a/!/-', 'recreate', 'destroyed'],
    ['a destroyed value after, of a created key', '-/!/c', 'delete', 'destroyed'],
    ['a destroyed value after, of a key that is as before', 'a/!/a', 'leave', null],
    ['destroyed values on both sides', '!/!/c', 'destroyed', 'destroyed'],
  ])('%s (%s) is %s, conflict %s', (_sentence, states, action, conflict) => {
    const fact = factOf(states);
    expect(planOf(fact)).toEqual({
      ...place,
      keys: [expect.objectContaining({ key: 'KEY', action, conflict, source: fact.before })],
    });
  });

  test('counts what it creates, deletes and changes', () => {
    const sized = (fact: RevertFact, valueBytes: number): RevertFact => ({
      ...fact,
      before: fact.before && { ...fact.before, valueBytes },
    });
    const growths = ['a/b/b', '-/b/b', 'a/-/-', 'a/b/a', '!/b/b'].map((states) =>
      growthOf(planOf(sized(factOf(states), 25))),
    );
    expect(growths).toEqual([
      { secrets: 0, bytes: 15 },
      { secrets: -1, bytes: -10 },
      { secrets: 1, bytes: 25 },
      { secrets: 0, bytes: 0 },
      { secrets: 0, bytes: 0 },
    ]);
    expect(isChange(planOf(factOf('a/b/a'), factOf('!/b/b')))).toBe(false);
  });
});

test('the hash of a plan differs by environment, revisions, overwrite and what is done', () => {
  const environmentId = id(1);
  const hashOf = (plan: RevertPlan, overwrite = false, environment = environmentId): string =>
    digestOf(revertParts({ environmentId: environment, overwrite }, plan));
  const plan = planOf(factOf('a/b/b'));
  const hashes = [
    hashOf(plan),
    hashOf(plan, true),
    hashOf(plan, false, id(2)),
    hashOf({ ...plan, revisionId: id(8) }),
    hashOf({ ...plan, reverted: { revision: 4, revisionId: id(8) } }),
    hashOf(planOf(factOf('a/b/a'))),
    hashOf(planOf({ ...factOf('a/b/b'), version: 9 })),
    hashOf(planOf({ ...factOf('a/b/b'), before: versionOf(2, 'a') })),
    hashOf(planOf()),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

/** What a key holds: a letter, `null` for nothing. */
type Value = string | null;
type State = Readonly<Record<string, Value>>;

const names = ['A', 'B', 'C', 'D'];
const value = fc.constantFrom<Value>('x', 'y', 'z', null);
const anyState: fc.Arbitrary<State> = fc.record({ A: value, B: value, C: value, D: value });
const touched = fc.subarray(names, { minLength: 1 });

/** The state after a plan. */
function carriedOut(state: State, plan: RevertPlan): State {
  const changes = plan.keys.flatMap(({ key, effect, source }) => {
    if (effect === 'none') return [];
    return [[key, effect === 'delete' || source === null ? null : new TextDecoder().decode(source.valueMac)]];
  });
  return { ...state, ...(Object.fromEntries(changes) as State) };
}

function factIn(key: string, [before, after, now]: readonly [State, State, State]): RevertFact {
  const at = (held: Value | undefined, version: number): KeyVersion | null =>
    held === null || held === undefined ? null : versionOf(version, held);
  const present: PresentKey = { secretId: id(9), key, version: 3, live: at(now[key], 3) };
  return { ...present, before: at(before[key], 1), after: at(after[key], 2) };
}

test('after the revert of a revision its keys are as before it, and the others as they were', () => {
  fc.assert(
    fc.property(anyState, anyState, anyState, touched, (before, after, now, keys) => {
      const plan = planOf(...keys.map((key) => factIn(key, [before, after, now])));
      const expected = Object.fromEntries(names.map((key) => [key, keys.includes(key) ? before[key] : now[key]]));
      expect(carriedOut(now, plan)).toEqual(expected);
      // A conflict is a key that neither is as the revision left it nor as it was before.
      for (const { key, conflict } of plan.keys) {
        expect(conflict).toBe(now[key] === after[key] || now[key] === before[key] ? null : 'changed');
      }
    }),
  );
});
