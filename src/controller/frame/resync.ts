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
  const ids = {
    environments: new Set<string>(),
    credentials: new Set<string>(),
    tokens: new Set<string>(),
    kept: new Set<string>(),
  };
  for (const set of sets) {
    for (const { kind, id, saw } of set.values()) {
      if (kind === 'environment' || kind === 'environment history') ids.environments.add(id);
      else if (kind === 'credential') ids.credentials.add(id);
      else if (kind === 'service token' && saw !== undefined) ids.tokens.add(id);
      else if (kind === 'kept state') ids.kept.add(id);
    }
  }
  return {
    environmentIds: [...ids.environments],
    credentialIds: [...ids.credentials],
    serviceTokenIds: [...ids.tokens],
    keptIds: [...ids.kept],
  };
}

const unanswerable: ReadonlySet<SubjectKind> = new Set(['environments', 'credentials']);

function isCurrent(set: DependencySet, present: PresentState): boolean {
  return [...set.values()].every((dependency) => !unanswerable.has(dependency.kind) && isAsSeen(dependency, present));
}

function isAsSeen(
  { kind, id, saw }: Dependency,
  { environments, liveCredentials, liveTokens, kept }: PresentState,
): boolean {
  if (kind === 'environment') return saw !== undefined && environments.get(id) === saw;
  if (kind === 'environment history') return environments.has(id);
  if (kind === 'credential') return liveCredentials.has(id);
  if (kind === 'service token' && saw !== undefined) return liveTokens.has(id) === (saw === 'live');
  return kind !== 'kept state' || kept.has(id);
}
