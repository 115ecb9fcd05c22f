import { holdSameValue, type KeyVersion, type PlannedKey, type PresentKey } from './plan.ts';

/**
 * Which keys of the destination a copy changes. `missing`: those that it does not have. `changed`: also those with
 * another value. `mirror`: also deletes those that the source does not have.
 */
export const copyModes = ['missing', 'changed', 'mirror'] as const;

export type CopyMode = (typeof copyModes)[number];

/**
 * What a copy does with a key: `create` and `update` write the source's value, `leave` finds it equal already, `keep` keeps
 * another value, because only missing keys are wanted. `delete` deletes a key that the source does not have. `destroyed`
 * keeps the key as it is, because the source's value of then was destroyed.
 */
export type CopyAction = 'create' | 'update' | 'leave' | 'keep' | 'delete' | 'destroyed';

/** A key that the source or the destination has. */
export interface CopyFacts {
  readonly present: PresentKey;
  /** The version that the source has of the key; null for none. Its MAC is that of the value for the destination's secret. */
  readonly source: KeyVersion | null;
}

/** Plans a copy, in the order of the facts. Keys that only the destination has are left out unless `mirror` deletes them. */
export function planCopy(facts: readonly CopyFacts[], mode: CopyMode): PlannedKey<CopyAction>[] {
  return facts.flatMap(({ present, source }) => {
    const action = actionOf({ present, source }, mode);
    return action === undefined ? [] : [{ key: present.key, action, effect: effects[action], present, source }];
  });
}

const effects = {
  create: 'write',
  update: 'write',
  leave: 'none',
  keep: 'none',
  delete: 'delete',
  destroyed: 'none',
} as const;

function actionOf({ present: { live }, source }: CopyFacts, mode: CopyMode): CopyAction | undefined {
  if (source === null) return mode === 'mirror' && live !== null ? 'delete' : undefined;
  if (source.isDestroyed) return 'destroyed';
  if (live === null) return 'create';
  if (holdSameValue(source, live)) return 'leave';
  return mode === 'missing' ? 'keep' : 'update';
}
