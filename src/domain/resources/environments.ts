import type { EnvironmentSlugs } from '../slugs.ts';

/** What the services and the controller say to each other about the environments of SecretEnvironments. */

export interface EnsureEnvironmentInput extends EnvironmentSlugs {
  /** The environment's display name. Default: the slug for a new environment, and unchanged for an existing one. */
  readonly displayName?: string | undefined;
  /**
   * The uids of the resources of this cluster that set its display name. The one that created or took over the
   * environment decides the name, otherwise the first one. Default: the resource itself.
   */
  readonly namers?: readonly string[];
}

export interface EnsuredEnvironment {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  readonly secretCount: number;
  /** Whether this call created it. */
  readonly created: boolean;
  /** Whether its organization has an owner who is not disabled. */
  readonly hasOwner: boolean;
  /** The uid of the one of `namers` that decides the display name; undefined without any. */
  readonly namer: string | undefined;
}

export interface FirstOwnersInput {
  readonly organization: string;
  /** E-mail addresses, in lower case. */
  readonly owners: readonly string[];
}

/** Another SecretEnvironment of the same cluster, which takes an environment over. */
export interface Successor {
  readonly name: string;
  readonly uid: string;
}

export interface HandOverInput extends EnvironmentSlugs {
  readonly successor: Successor;
}

/** The environment that a resource created. `gone`: it or something above it was deleted. */
export type EnvironmentOrGone = { readonly environmentId: string } | 'gone';
