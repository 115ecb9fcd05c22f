import type { SecretPatchView } from '../../wire/secrets.ts';
import type { Draft, DraftEntry, PlannedChange, Versions } from './draft.ts';

/** The changes of a draft that were sent to be saved. */
export interface Commit {
  readonly plan: readonly PlannedChange[];
  /** The id of the revision that the plan is for. The server saves it only there, so it is never saved twice. */
  readonly revisionId: string;
  /** Whether its response was lost, so that it may be saved. Until then it is under way. */
  readonly isLost: boolean;
}

/** How the last commit ended. */
export type CommitOutcome =
  | { readonly kind: 'saved'; readonly report: string }
  /** The server refused it: nothing was saved. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Its response was lost, and the environment does not have all of its changes. */
  | { readonly kind: 'unclear' };

/** Puts back what an update dropped although it is being saved: dropping it would not stop that. */
export function keepSaving(draft: Draft, commit: Commit | undefined): Draft {
  if (commit === undefined || commit.isLost) return draft;
  const dropped = commit.plan.filter(({ key }) => !draft.has(key));
  return dropped.length === 0 ? draft : new Map([...draft, ...dropped.map(({ key, entry }) => [key, entry] as const)]);
}

/** Whether a change of a key is under way. */
export function isBeingSaved(key: string, entry: DraftEntry | undefined, commit: Commit | undefined): boolean {
  return commit?.isLost === false && commit.plan.some((change) => change.key === key && change.entry === entry);
}

/** A plan, divided into what is being saved and the rest. */
export interface DividedPlan {
  readonly saving: readonly PlannedChange[];
  readonly rest: readonly PlannedChange[];
}

/**
 * Divides the plan of a draft while a commit is under way. The stream may report the commit before its response arrives, so
 * the keys that were sent are no conflicts.
 */
export function dividePlan(draft: Draft, plan: readonly PlannedChange[], commit: Commit | undefined): DividedPlan {
  if (commit === undefined || commit.isLost) return { saving: [], rest: plan };
  const sent = new Map(commit.plan.map(({ key, entry }) => [key, entry]));
  return {
    saving: commit.plan,
    rest: plan
      .filter(({ key }) => draft.get(key) !== sent.get(key))
      .map((change) => (sent.has(change.key) ? { ...change, isConflict: false } : change)),
  };
}

/**
 * The draft after changes were saved. What the user has not changed since leaves it; the rest begins at the versions that
 * were saved.
 */
export function settle(draft: Draft, saved: readonly PlannedChange[], versions: Versions): Draft {
  const settled = new Map(draft);
  for (const { key, entry } of saved) {
    const present = draft.get(key);
    if (present === undefined) continue;
    if (present === entry) settled.delete(key);
    else settled.set(key, { ...present, baseVersion: versions.get(key) ?? 0 });
  }
  return settled;
}

/** The versions of the keys that a commit saved. Those that it deleted have none. */
export function savedVersions(plan: readonly PlannedChange[], { set, unchanged }: SecretPatchView): Versions {
  const isUnchanged = new Set(unchanged);
  return new Map([
    ...plan.filter(({ key }) => isUnchanged.has(key)).map(({ key, version }) => [key, version] as const),
    ...set.map(({ key, version }) => [key, version] as const),
  ]);
}

/** What the user reads about a commit that was saved. */
export function savedReport({ set, deleted, unchanged, revision }: SecretPatchView): string {
  const parts = [
    set.length === 0 ? '' : `${set.length} set`,
    deleted.length === 0 ? '' : `${deleted.length} deleted`,
    unchanged.length === 0 ? '' : `${unchanged.length} had this value already`,
  ].filter((part) => part !== '');
  return `Saved as revision ${revision}: ${parts.join(', ')}.`;
}

/** What the versions of the keys say about a commit whose response was lost. */
export interface LostCommit {
  /** What the environment has: deletions of keys that do not exist. */
  readonly saved: readonly PlannedChange[];
  /** Keys that have another version now, which is `version`: their values must be compared. */
  readonly unclear: readonly (PlannedChange & { readonly entry: DraftEntry & { readonly kind: 'set' } })[];
}

/** A key with its former version has not been saved by the commit, or had the value already. */
export function examineLost(plan: readonly PlannedChange[], versions: Versions): LostCommit {
  const saved: PlannedChange[] = [];
  const unclear: LostCommit['unclear'][number][] = [];
  for (const change of plan) {
    const { key, entry } = change;
    const version = versions.get(key) ?? 0;
    if (entry.kind === 'delete') {
      if (version === 0) saved.push(change);
    } else if (version !== 0 && version !== change.version) unclear.push({ ...change, entry, version });
  }
  return { saved, unclear };
}
