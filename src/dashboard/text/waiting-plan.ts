import type { WaitingRestoreView } from '../../wire/waiting-restores.ts';
import { counted } from './counted.ts';
import { type KeyPlan, restoreKeys } from './planned-keys.ts';

type Plan = WaitingRestoreView['plan'];

const lists = ['restored', 'recreated', 'pruned', 'skipped', 'destroyed'] as const;

/** What a plan does to the keys that it names, and how many more there are of those that it does not. */
export function namedKeys(plan: Plan): KeyPlan & { readonly unnamed: number } {
  const named = Object.fromEntries(lists.map((list) => [list, plan[list].keys]));
  const unnamed = lists.reduce((sum, list) => sum + plan[list].count - plan[list].keys.length, 0);
  return { ...restoreKeys(named as Parameters<typeof restoreKeys>[0]), unnamed };
}

/** What a plan does, in a line: "Changes 2 keys and deletes 1." */
export function planSummary({ restored, recreated, pruned }: Plan): string {
  const parts = [
    ...(restored.count > 0 ? [`changes ${counted(restored.count, 'key')}`] : []),
    ...(recreated.count > 0 ? [`brings ${counted(recreated.count, 'deleted key')} back`] : []),
    ...(pruned.count > 0 ? [`deletes ${counted(pruned.count, 'key')}`] : []),
  ];
  if (parts.length === 0) return 'It would change nothing: the environment has these values already.';
  const [last = '', ...others] = parts.toReversed();
  const text = others.length === 0 ? last : `${others.toReversed().join(', ')} and ${last}`;
  return `It ${text}.`;
}

/** The command that approves exactly this plan; undefined for a user who may not see the namespace. */
export function approvalCommand({
  namespace,
  name,
  planHash,
}: Pick<WaitingRestoreView, 'namespace' | 'name' | 'planHash'>): string | undefined {
  if (namespace === null) return undefined;
  const patch = JSON.stringify({ spec: { mode: 'Apply', planHash } });
  return `kubectl patch snapshotrestores.keyframe.dev ${name} -n ${namespace} --type merge -p '${patch}'`;
}
