import type { Asker } from '../../domain/asker.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
  HandOverInput,
} from '../../domain/resources/environments.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';

/** The environments of SecretEnvironments, which need no grant. All throw DomainError store_unavailable. */
export interface EnvironmentsBackend {
  /**
   * Creates what is missing of an organization, a project and an environment, and sets the environment's display name if
   * this resource decides it. Throws DomainError invalid_input, and conflict for a slug of something deleted.
   */
  readonly ensure: (asker: Asker, input: EnsureEnvironmentInput) => Promise<EnsuredEnvironment>;
  /**
   * Appoints all of these users owners of an organization that has none, or none of them. Throws DomainError not_found for
   * users who do not exist or are disabled, and conflict for a user as whom others can sign in.
   */
  readonly appointOwners: (asker: Asker, input: FirstOwnersInput) => Promise<void>;
  /** The environment that the resource created or took over; undefined if there was never any. */
  readonly find: (asker: Asker) => Promise<EnvironmentOrGone | undefined>;
  /**
   * Ends the resource: deletes, softly, the environment that it created or took over, if any. `slugs` are those that it
   * names.
   */
  readonly delete: (asker: Asker, slugs: EnvironmentSlugs) => Promise<void>;
  /**
   * Ends the resource without a deletion: from here on, its environment, if any, counts as created by the successor. Throws
   * DomainError conflict if the successor has ended.
   */
  readonly handOver: (asker: Asker, input: HandOverInput) => Promise<void>;
}
