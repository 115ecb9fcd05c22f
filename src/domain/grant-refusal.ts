import { DomainError } from './errors/domain-error.ts';
import {
  covers,
  type GrantNeed,
  type GrantPlace,
  type GrantRule,
  grantPatch,
  grantYaml,
  grantedPermission,
  grantedText,
  kindsNeeded,
} from './grants.ts';
import type { GrantedKindName } from './kinds.ts';
import type { EnvironmentSlugs } from './slugs.ts';

/** Refusals by AccessGrants. */

/** A custom resource and what its namespace is granted. */
export interface GrantHolder {
  readonly kind: GrantedKindName;
  /** Such as `SecretSync team-a/app`. */
  readonly name: string;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  readonly grants: readonly GrantRule[];
  /** Name of an AccessGrant that covers only the namespace and has room for another rule, if any. */
  readonly ownGrant?: string | undefined;
}

/**
 * DomainError forbidden for a custom resource without the grant it needs, with what its namespace is granted and the
 * change that would grant it. It says nothing of what exists in Keyframe. `sha256` returns hexadecimal digits.
 */
export function grantRefusal(
  { kind, name, namespace, grants, ownGrant }: GrantHolder,
  asked: Omit<GrantNeed, 'kind'>,
  sha256: (text: string) => string,
): DomainError {
  const { organization, project, environment, permission } = asked;
  const place = grantPlaceText({ organization, project, environment });
  if (namespace === null)
    return new DomainError('forbidden', `${name} is in no namespace, so no AccessGrant is for it`);
  const need = { organization, project, environment, permission, kind };
  const kinds = kindsNeeded(kind);
  const granted = kinds.map((each) => `${each}: ${grantedText(grants, each)}`).join('; ');
  const remedy =
    ownGrant === undefined
      ? `apply one such as:\n${grantYaml(need, namespace, newGrantName(need, namespace, sha256))}`
      : `add a rule to AccessGrant ${ownGrant}: \`${grantPatch(need, ownGrant)}\``;
  return new DomainError(
    'forbidden',
    `${name} needs ${grantedPermission(permission)} on ${place}, and no AccessGrant allows that to namespace ${namespace}${byNameText(asked)} ` +
      `for ${kinds.join(' and ')}. The namespace is granted, for ${granted}. Correct the slugs if they are mistyped; ` +
      `else ask an admin of the cluster to ${remedy}`,
  );
}

/** A SecretSync and what its namespace is granted. */
export interface SyncHolder {
  readonly namespace: string;
  readonly name: string;
  /** See `Asker`. */
  readonly grants: readonly GrantRule[];
  readonly ownGrant: string | undefined;
}

/** Judges in memory only whether a SecretSync may read an environment without a token. Throws DomainError forbidden. */
export function requireSyncGrant(
  { namespace, name, grants, ownGrant }: SyncHolder,
  { organization, project, environment }: EnvironmentSlugs,
  sha256: (text: string) => string,
): void {
  const asked = { organization, project, environment, permission: 'read' } as const;
  const kind = 'SecretSync';
  if (covers(grants, { ...asked, kind })) return;
  throw grantRefusal({ kind, name: `${kind} ${namespace}/${name}`, namespace, grants, ownGrant }, asked, sha256);
}

/** A name for an AccessGrant that no other need has. */
function newGrantName(need: GrantNeed, namespace: string, sha256: (text: string) => string): string {
  const { organization, project, environment, permission, kind } = need;
  const about = JSON.stringify([namespace, organization, project, environment, permission, kind]);
  return `${namespace}-${organization}-${sha256(about).slice(0, 8)}`;
}

/** What a need by name adds to what is not allowed; empty for others. */
export function byNameText({ byName = false }: Pick<GrantNeed, 'byName'>): string {
  return byName ? ' by name, as a protected environment requires' : '';
}

/** `project acme/web`, by the levels that are given. */
export function grantPlaceText({ organization, project, environment }: GrantPlace): string {
  const given = Object.entries({ organization, project, environment }).filter(([, slug]) => slug !== null);
  return `${given.at(-1)?.[0]} ${given.map(([, slug]) => slug).join('/')}`;
}
