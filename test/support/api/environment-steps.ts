import fc from 'fast-check';
import type { KeySelection } from '../../../src/domain/key-globs.ts';
import { copyModes } from '../../../src/domain/plans/copy.ts';

const key = fc.constantFrom('A', 'B', 'C', 'D', 'E');
const value = fc.constantFrom('', '1', '2', 'é');
/** `keys` of a restore: globs, and whether they select a key. */
export const selections: ReadonlyMap<string, readonly [KeySelection | undefined, RegExp]> = new Map([
  ['all', [undefined, /./]],
  ['included', [{ include: ['A', 'C*'] }, /^[AC]$/]],
  ['excluded', [{ exclude: ['?'] }, /^$/]],
  ['both', [{ include: ['*'], exclude: ['B', 'E'] }, /^[ACD]$/]],
  ['none', [{ include: [] }, /^$/]],
]);
const options = {
  prune: fc.boolean(),
  skipUnchanged: fc.boolean(),
  backup: fc.boolean(),
  includeDeleted: fc.boolean(),
  selection: fc.constantFrom('all', 'all', 'all', ...selections.keys()),
};

/**
 * One call of one client on one of two environments; a copy reads from the other one. What it refers to (a version, a
 * snapshot) is selected from those that exist by a number.
 */
const anyStep = fc
  .oneof(
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('put' as const), key, value, isExpecting: fc.boolean() }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('patch' as const),
        set: fc.dictionary(key, value, { maxKeys: 4 }),
        deleted: fc.uniqueArray(key, { maxLength: 2 }),
        skipUnchanged: fc.boolean(),
        isExpecting: fc.boolean(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('rollback' as const), key, target: fc.nat(20), undelete: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('restore' as const),
        which: fc.nat(20),
        isPlanned: fc.boolean(),
        ...options,
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('revert' as const),
        which: fc.nat(40),
        byId: fc.boolean(),
        isPlanned: fc.boolean(),
        overwrite: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), which: fc.nat(20) }) },
    {
      weight: 5,
      arbitrary: fc.record({
        kind: fc.constant('copy' as const),
        mode: fc.constantFrom(...copyModes),
        selection: fc.constantFrom('all', 'all', 'all', ...selections.keys()),
        /** A past revision of the source, by number or by id. */
        past: fc.option(fc.record({ which: fc.nat(40), byId: fc.boolean() }), { nil: undefined }),
        isPlanned: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('undelete' as const) }) },
  )
  .chain((step) => fc.record({ step: fc.constant(step), client: fc.nat(20), environment: fc.nat(1) }));

export type Call = typeof anyStep extends fc.Arbitrary<infer C> ? C : never;
export type Step = Call['step'];
export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** Calls that are made one after the other (rounds of one) and at once (rounds of several). */
export const anyRounds = fc.array(fc.array(anyStep, { minLength: 1, maxLength: 5 }), { minLength: 4, maxLength: 14 });
