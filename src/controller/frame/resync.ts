import type { PresentState, StateQuestion } from '../../domain/changes.ts';
import type { ChangesBackend } from '../backend/changes.ts';
import type { Dependencies, Dependency, DependencySet, SubjectKind } from './dependencies.ts';

/**
 * The resources whose results are stale according to the database, which is queried once for all of them. Events report
 * every change while the feed is connected; this query finds the changes while it was not. A result with a dependency that
 * cannot be queried counts as stale. Throws DomainError store_unavailable.
 */
export async function staleResources(
  dependencies: Pick<Dependencies, 'of'>,
  resources: Iterable<string>,
  changes: Pick<ChangesBackend, 'compare'>,
): Promise<string[]> {
  const asked = [...resources].flatMap((resource) => {
    const set = dependencies.of(resource);
    return set === undefined ? [] : [{ resource, set }];
  });
  const present = await changes.compare(questionAbout(asked.map(({ set }) => set)));
  // A result that was set during the query is newer than its response.
  const unchanged = asked.filter(({ resource, set }) => dependencies.of(resource) === set);
  return unchanged.filter(({ set }) => !isCurrent(set, present)).map(({ resource }) => resource);
}

function questionAbout(sets: readonly DependencySet[]): StateQuestion {
  const ids: Record<keyof StateQuestion, Set<string>> = {
    environmentIds: new Set(),
    credentialIds: new Set(),
    serviceTokenIds: new Set(),
    keptIds: new Set(),
    rulesOf: new Set(),
  };
  for (const dependency of sets.flatMap((set) => [...set.values()])) {
    const field = askedAs[dependency.kind];
    const isVersioned = dependency.saw !== undefined || !ofVersions.has(dependency.kind);
    if (field !== undefined && isVersioned) ids[field].add(dependency.id);
  }
  return Object.fromEntries(Object.entries(ids).map(([field, found]) => [field, [...found]]));
}

/** Where the ids of a kind of subjects are asked for. */
const askedAs: Readonly<Partial<Record<SubjectKind, keyof StateQuestion>>> = {
  environment: 'environmentIds',
  'environment history': 'environmentIds',
  credential: 'credentialIds',
  'service token': 'serviceTokenIds',
  'kept state': 'keptIds',
  'cluster rules': 'rulesOf',
};
/** Without a version of these, another dependency of the result says more. */
const ofVersions: ReadonlySet<SubjectKind> = new Set(['service token', 'cluster rules']);

const unanswerable: ReadonlySet<SubjectKind> = new Set(['environments', 'credentials']);

function isCurrent(set: DependencySet, present: PresentState): boolean {
  return [...set.values()].every((dependency) => !unanswerable.has(dependency.kind) && isAsSeen(dependency, present));
}

function isAsSeen(dependency: Dependency, present: PresentState): boolean {
  const { kind, id, saw } = dependency;
  const { environments, liveCredentials, liveTokens, kept } = present;
  if (kind === 'environment') return saw !== undefined && environments.get(id) === saw;
  if (kind === 'environment history') return environments.has(id);
  if (kind === 'credential') return liveCredentials.has(id);
  if (kind === 'service token' && saw !== undefined) return liveTokens.has(id) === (saw === 'live');
  if (kind === 'kept state') return kept.has(id);
  return isClusterAsSeen(dependency, present);
}

function isClusterAsSeen({ kind, id, saw }: Dependency, { clusterState, clusterRules }: PresentState): boolean {
  if (kind === 'cluster') return clusterState === saw;
  return kind !== 'cluster rules' || String(clusterRules.get(id) ?? 0) === saw;
}
