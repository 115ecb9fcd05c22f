import type { ServiceTokenView } from '../../wire/service-tokens.ts';
import type { EnvironmentView, ProjectView } from '../../wire/tenancy.ts';
import { type TokenState, tokenState } from '../../wire/token-state.ts';

const soonMs = 7 * 86_400_000;

/**
 * A state for the list; `expiring` is an active token that ends within a week. The other two are those of a federated token
 * that is refused until a person does something about its issuer.
 */
export type ShownState = TokenState | 'expiring' | 'issuer_changed' | 'issuer_deleted';

/** @param mustAccept whether a change of an issuer counts only after an admin of the organization accepted it */
export function shownState(token: ServiceTokenView, now: Date, mustAccept: boolean): ShownState {
  const state = tokenState(token, now);
  if (state !== 'active') return state;
  const { federation, expiresAt } = token;
  if (federation?.issuerGeneration === null) return 'issuer_deleted';
  if (federation?.isAccepted === false && mustAccept) return 'issuer_changed';
  return expiresAt !== null && Date.parse(expiresAt) - now.getTime() < soonMs ? 'expiring' : 'active';
}

/** Which tokens a list shows: those that work or will again, those of them that need a person, or those that have ended. */
export const stateChoices = ['live', 'waiting', 'expired', 'revoked', 'all'] as const;
export type StateChoice = (typeof stateChoices)[number];

export function isChosen(state: ShownState, choice: StateChoice): boolean {
  if (choice === 'all') return true;
  if (choice === 'live') return state !== 'expired' && state !== 'revoked';
  if (choice === 'waiting') return state === 'issuer_changed' || state === 'issuer_deleted';
  return state === choice;
}

/** The slugs of projects and environments by their ids, as `shop` and `shop / production`. */
export type PlaceNames = ReadonlyMap<string, string>;

export function placeNames(
  projects: readonly {
    readonly project: Pick<ProjectView, 'id' | 'slug'>;
    readonly environments: readonly Pick<EnvironmentView, 'id' | 'slug'>[];
  }[],
): PlaceNames {
  return new Map(
    projects.flatMap(({ project, environments }) => [
      [project.id, project.slug] as const,
      ...environments.map(({ id, slug }) => [id, `${project.slug} / ${slug}`] as const),
    ]),
  );
}

/** What a token is for: "Whole organization", "shop", "shop / production". Empty while the names load. */
export function scopeText({ projectId, environmentId }: ServiceTokenView, names: PlaceNames | undefined): string {
  const id = environmentId ?? projectId;
  if (id === null) return 'Whole organization';
  if (names === undefined) return '';
  return names.get(id) ?? (environmentId === null ? 'A deleted project' : 'A deleted environment');
}

/** What stops when a token is revoked, as sentences. */
export function revocationText(token: ServiceTokenView, names: PlaceNames | undefined): string {
  const named = token.scope === 'organization' ? 'the whole organization' : scopeText(token, names);
  const place = named === '' ? `its ${token.scope}` : named;
  if (token.holder !== null) {
    return `The SecretSyncs of the namespace ${token.holder.namespace} in ${token.holder.cluster} stop reading ${place}. Their Secrets keep the values that they have. You can reinstate the token.`;
  }
  const does = token.permission === 'read_write' ? 'reads or writes' : 'reads';
  return `Whatever ${does} secrets of ${place} with it is refused from the next request on. This cannot be undone.`;
}
